"""P16: the main conversation and its subagents share a session id, and more threads than names."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.claude_code.client import SLACK, Answer, Thread
from tests.claude_code.conftest import MAPPING
from tests.protocol.server import Server, running

ONE, OTHER = "33333333-0000-4000-8000-000000000001", "33333333-0000-4000-8000-000000000002"


def thread(server: Server, session: str, agent: str | None) -> Thread:
    return Thread(server, session, agent, system=f"{session[-1]} {agent} helps. " * 20)


def goes_on(one: Thread, text: str) -> Answer:
    before = one.ends
    answer = one.turn(text)
    assert answer.outcome == "used", (one.session, one.agent)
    assert answer.cost <= answer.prompt - before + SLACK
    return answer


def test_p16_every_thread_goes_on_from_its_own(fresh: Server) -> None:
    main = thread(fresh, ONE, None)
    threads = [main, *(thread(fresh, ONE, agent) for agent in "AB"), thread(fresh, OTHER, "A")]
    for one in threads:
        assert one.turn("Begin.").outcome == "unknown"
    for number in range(2):
        for one in threads:
            goes_on(one, f"Step {number}.")
    for number in range(2):
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda one: goes_on(one, f"At once, {number}."), threads))  # noqa: B023
    # One without an agent's id and with a history of its own is no turn of the main conversation.
    stranger = thread(fresh, ONE, None)
    stranger.system = "A workflow of its own. " * 20
    assert stranger.turn("Something else.").outcome == "unmatched"
    goes_on(main, "Still there?")


def test_p16_more_threads_than_names(tmp_path: Path) -> None:
    """The least recently used goes; the conversation they work for is in use."""
    settings = {**MAPPING, "HALOGEN_FORK_HANDLES": "8"}
    with running("simulator", tmp_path / "log", settings) as server:
        main = thread(server, ONE, None)
        main.turn("Begin.")
        agents = [thread(server, ONE, f"agent-{number}") for number in range(8)]
        for agent in agents:
            agent.turn("Begin.")
            assert len(server.handles()) <= 8
        goes_on(main, "How far are they?")
        goes_on(agents[-1], "Go on.")
        assert agents[0].turn("Go on.").outcome == "unknown"


def test_p16_five_start_before_the_first_has_answered(fresh: Server) -> None:
    main = thread(fresh, ONE, None)
    main.turn("Begin.")
    siblings = [thread(fresh, ONE, f"s{number}") for number in range(5)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: one.turn(f"Do part {one.agent}."), siblings))
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda one: goes_on(one, "Go on."), siblings))
    goes_on(main, "And you.")
