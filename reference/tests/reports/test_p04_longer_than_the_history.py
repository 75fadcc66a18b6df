"""P04: a state that goes beyond the history that was sent leaves words of it in the reply."""

from collections.abc import Callable

from tests.protocol.client import Talk, check_not_used, check_used
from tests.protocol.histories import asking
from tests.protocol.routes import Turn

Turns = tuple[Turn, ...]


def test_p04_a_shorter_or_edited_history_is_unmatched(
    talk: Talk, name: Callable[[str], str]
) -> None:
    history: Turns = asking("What is fog?")
    for question in ("Is it cold?", "Is it wet?"):
        history = (*history, ("assistant", talk.twin(history).text), ("user", question))
    kept = talk.kept(name("a"), history)
    true = kept.then("Why?")
    for changed in (
        true[:4],
        (*true[:3], ("user", "Is it bold?"), *true[4:]),
        (true[0], *true[3:]),
        (("system", true[0][1] + "!"), *true[1:]),
    ):
        answer = check_not_used(talk, "unmatched", changed, kept.name)
        assert answer.text
    check_used(talk, kept, true)
