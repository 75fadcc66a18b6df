"""P03: a state that can be used once only, or that a fork of it changes."""

from collections.abc import Callable

from tests.protocol.client import Kept, Talk, check_not_used, check_same, check_used
from tests.protocol.histories import asking


def test_p03_forks_one_by_one_and_all_at_once(talk: Talk, name: Callable[[str], str]) -> None:
    kept = talk.kept(name("a"), asking("What is fog?"))
    first = check_used(talk, kept, kept.then("Is it 0?"))
    one_by_one = [
        check_used(talk, kept, kept.then(f"Is it {at}?"), keep=name(f"f{at}")) for at in range(5)
    ]
    assert len({answer.outcome for answer in one_by_one}) == 1
    forks = [kept.then(f"Is it {at} at once?") for at in range(5)]
    together = talk.many(
        *(
            {"history": fork, "start": kept.name, "keep": name(f"g{at}")}
            for at, fork in enumerate(forks)
        )
    )
    for fork, answer in zip(forks, together, strict=True):
        assert answer.outcome == "used"
        check_same(answer, talk.twin(fork))
    assert check_used(talk, kept, kept.then("Is it 0?")).cost == first.cost
    two, three = (Kept(name(f"f{at}"), kept.then(f"Is it {at}?"), one_by_one[at]) for at in (2, 3))
    check_used(talk, three, three.then("Why?"))
    check_not_used(talk, "unmatched", two.then("Why?"), three.name)
