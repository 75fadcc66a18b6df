"""P15: titles, probes, counts and compactions come on the session and are not the conversation."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.claude_code.client import SLACK, Answer, Thread, count
from tests.protocol.server import Server


@pytest.fixture(params=[False, True], ids=["no-hints", "hints"])
def main(fresh: Server, request: pytest.FixtureRequest) -> Thread:
    return Thread(fresh, "22222222-0000-4000-8000-000000000000", hints=request.param)


def goes_on(main: Thread, text: str) -> Answer:
    before = main.ends
    answer = main.turn(text)
    assert answer.outcome == "used"
    assert answer.cost <= answer.prompt - before + SLACK
    return answer


def topic(main: Thread) -> Answer:
    """A check of the topic: another system, no tools."""
    asked = [{"role": "user", "content": "Is this a new topic?"}]
    system = [{"type": "text", "text": "Say yes or no."}]
    return main.request(asked, "auxiliary", system=system, tools=[])


def probe(main: Thread) -> Answer:
    quota = [{"role": "user", "content": "quota"}]
    return main.request(quota, "auxiliary", max_tokens=1, tools=[])


def counted(main: Thread) -> int:
    body = main.body([*main.messages, {"role": "user", "content": "Second question."}])
    return count(main.server, body, main.headers("auxiliary"))


def test_p15_side_requests_read_and_never_write(main: Thread) -> None:
    main.turn("First question.")
    main.title(), probe(main), topic(main)
    number = counted(main)
    assert goes_on(main, "Second question.").prompt == number
    with ThreadPoolExecutor() as pool:
        beside = [pool.submit(act, main) for act in (topic, probe, counted)]
        beside.append(pool.submit(main.title))
        goes_on(main, "Third question.")
        assert all(one.result() for one in beside)
    goes_on(main, "Fourth question.")
    main.aside("Summarise everything.", "compaction")
    main.messages = [{"role": "user", "content": "This is the summary."}]
    assert main.turn("Fifth question.").outcome == "unmatched"
    goes_on(main, "Sixth question.")
    assert len(main.server.handles()) == 1
