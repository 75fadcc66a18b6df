"""P20: an older copy of a conversation comes back under the same session id."""

import copy

import pytest

from tests.claude_code.client import SLACK, Answer, Thread
from tests.protocol.server import Server

SESSION = "55555555-0000-4000-8000-000000000000"


def goes_on(main: Thread, text: str) -> Answer:
    before = main.ends
    answer = main.turn(text)
    assert answer.outcome == "used"
    assert answer.cost <= answer.prompt - before + SLACK
    return answer


@pytest.mark.parametrize("hints", [False, True], ids=["no-hints", "hints"])
@pytest.mark.parametrize("edited", [False, True], ids=["older", "older and edited"])
def test_p20_a_stale_copy_and_the_live_one(fresh: Server, hints: bool, edited: bool) -> None:
    """The history that was sent is answered, whatever the session says; the live one stays."""
    main = Thread(fresh, SESSION, hints=hints)
    main.turn("Question 1.")
    for number in range(2, 4):
        goes_on(main, f"Question {number}.")
    stale = copy.deepcopy(main.messages)
    for number in range(4, 7):
        goes_on(main, f"Question {number}.")
    if edited:
        stale[-1] = {"role": "assistant", "content": "Half a line, torn"}
    asked = [*stale, {"role": "user", "content": "From an older copy."}]
    # The same by a server that never saw the session: no word of the later turns is in it.
    other = Thread(fresh, SESSION.replace("5", "6"), key="sk-example-key-two")
    visit, twin = main.request(asked, "main"), other.request(asked, "main")
    assert twin.outcome == "unknown"
    assert (visit.text, visit.prompt) == (twin.text, twin.prompt)
    for number in range(7, 9):
        goes_on(main, f"Question {number}.")
