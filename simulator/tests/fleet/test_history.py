"""Histories: what repeats what, and how long it is."""

from halogen_simulator.fleet.history import Piece, Role


def talk(*tokens: int) -> Piece:
    piece = Piece(Role.SYSTEM, tokens[0])
    for count in tokens[1:]:
        piece = piece.then(Role.USER, count)
    return piece


def test_a_history_repeats_every_beginning_of_itself() -> None:
    whole = talk(1, 2, 3)
    assert all(whole.repeats(piece) for piece in whole.messages())


def test_a_longer_or_another_history_is_not_repeated() -> None:
    shorter = talk(1, 2)
    longer = shorter.then(Role.USER, 3)
    assert not shorter.repeats(longer)
    assert not longer.repeats(shorter.then(Role.USER, 3)), "equal lengths are not equal texts"


def test_forks_repeat_their_parent_and_not_each_other() -> None:
    parent = talk(5, 5)
    one, other = parent.then(Role.USER, 1), parent.then(Role.USER, 1)
    assert one.repeats(parent) and other.repeats(parent)
    assert not one.repeats(other)


def test_totals_add_up() -> None:
    assert talk(1, 2, 3).total == 6
    assert [piece.tokens for piece in talk(1, 2, 3).messages()] == [1, 2, 3]
