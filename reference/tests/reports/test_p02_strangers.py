"""P02: a long system prompt in common makes no two conversations one."""

from collections.abc import Callable

from tests.protocol.client import Talk, check_not_used, check_used

SHARED = "You keep a lighthouse, and you keep what you are told to yourself. " * 12
ROUNDS = 5


def test_p02_neighbours_with_one_system_prompt(talk: Talk, name: Callable[[str], str]) -> None:
    def secret(word: str) -> tuple[tuple[str, str], ...]:
        return (("system", SHARED), ("user", f"The secret is {word}."))

    plum, fig = (talk.kept(name(word), secret(word)) for word in ("plum", "fig"))
    for number in range(ROUNDS):
        asked = f"What is the secret? ({number})"
        requests = [
            {"history": kept.then(asked), "start": start}
            for kept in (plum, fig)
            for start in (kept.name, kept.name, None, None)
        ]
        answers = talk.many(*requests)
        for request, answer in zip(requests, answers, strict=True):
            assert answer.outcome == (request["start"] and "used")
        # What is said hangs on the history alone, not on who was answered beside it.
        for four in (answers[:4], answers[4:]):
            assert len({answer.text for answer in four}) == 1
        assert answers[0].text != answers[4].text
    for kept in (plum, fig):
        check_used(talk, kept, kept.then("Thank you."))
    check_not_used(talk, "unmatched", fig.then("What is the secret?"), plum.name)
