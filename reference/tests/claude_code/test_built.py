"""Traffic the recordings do not hold, built from what was seen of Claude Code (MAP)."""

import copy
import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from halogen_reference.sessions.threads import MOST_LINEAGES
from tests.claude_code.client import SLACK, Answer, Message, Thread, count, end
from tests.protocol.server import Server

_sessions = itertools.count()


@pytest.fixture(params=[False, True], ids=["no-hints", "hints"])
def main(mapped: Server, request: pytest.FixtureRequest) -> Thread:
    """The main conversation of a session of its own."""
    number = next(_sessions)
    session = f"00000000-0000-4000-8000-{number:012d}"
    return Thread(mapped, session, hints=request.param, system=f"Session {number}. " * 40)


def subagent(main: Thread, agent: str, parent: str | None = None) -> Thread:
    return Thread(
        main.server, main.session, agent, parent, hints=main.hints, system=f"{agent} helps. " * 30
    )


def goes_on(thread: Thread, text: str) -> Answer:
    """The next turn, which must start from the thread's latest state."""
    before = thread.ends
    answer = thread.turn(text)
    assert answer.outcome == "used"
    assert answer.cost <= answer.prompt - before + SLACK
    return answer


def test_map_1_a_thread_goes_on_from_its_own_state(main: Thread) -> None:
    assert main.turn("First question.").outcome == "unknown"
    for number in range(3):
        goes_on(main, f"Question {number}.")


def test_map_4_a_title_before_the_first_turn(main: Thread) -> None:
    main.title()
    # The session may have the title's state by now: not what the first turn repeats.
    assert main.turn("First question.").outcome in ("unknown", "unmatched")
    goes_on(main, "Second question.")


def test_map_4_side_requests_between_the_turns(main: Thread) -> None:
    main.turn("First question.")
    for number in range(6):
        main.title()
        main.request([{"role": "user", "content": "quota"}], "auxiliary", max_tokens=1, tools=[])
        count(main.server, main.body(main.messages), main.headers("auxiliary"))
        goes_on(main, f"Question {number}.")


def test_map_4_a_title_while_a_turn_runs(main: Thread) -> None:
    main.turn("First question.")
    with ThreadPoolExecutor() as pool:
        titles = [pool.submit(main.title) for _ in range(3)]
        goes_on(main, "Second question.")
        assert all(title.result().outcome for title in titles)
    goes_on(main, "Third question.")


def test_map_4_a_recap_that_looks_like_the_next_turn(main: Thread) -> None:
    main.turn("First question.")
    for number in range(6):
        before = main.ends
        recap = main.aside("Recap what was said.")
        assert recap.outcome == "used"
        assert recap.cost <= recap.prompt - before + SLACK
        goes_on(main, f"Question {number}.")


def test_map_8_compaction(main: Thread) -> None:
    main.turn("First question.")
    goes_on(main, "Second question.")
    assert main.aside("Summarise everything.", "compaction").outcome == "used"
    main.messages = [{"role": "user", "content": "This is the summary of what was said."}]
    assert main.turn("Third question.").outcome == "unmatched"
    goes_on(main, "Fourth question.")


@pytest.mark.parametrize("beside", ["title", "stranger"])
def test_map_8_others_between_a_compaction_and_the_second_turn(main: Thread, beside: str) -> None:
    """What only went on once is as good as what nobody goes on with: so those must not crowd it
    out, beside the recaps of before."""
    main.turn("First question.")
    for number in range(4):
        main.aside("Recap what was said.")
        goes_on(main, f"Question {number}.")
    main.aside("Summarise everything.", "compaction")
    main.messages = [{"role": "user", "content": "This is the summary of what was said."}]
    assert main.turn("After the compaction.").outcome == "unmatched"
    for number in range(3):
        if beside == "title":
            main.title()
        else:
            other: list[Message] = [{"role": "user", "content": f"Another matter, {number}."}]
            main.request(other, "workflow")
    goes_on(main, "The second turn after it.")


def test_map_4_a_title_makes_no_conversation_go(main: Thread) -> None:
    """Not even where the thread holds all that it can."""
    main.turn("First question.")
    for number in range(MOST_LINEAGES - 1):
        other: list[Message] = [{"role": "user", "content": f"Another matter, {number}."}]
        main.request(other, "workflow")
    main.title()
    goes_on(main, "Second question.")


def test_map_8_a_long_session(main: Thread) -> None:
    """Every compaction leaves a conversation behind: they must not fill the thread's room."""
    main.turn("First question.")
    for number in range(7):
        goes_on(main, f"Question {number}.")
        main.aside("Summarise everything.", "compaction")
        main.messages = [{"role": "user", "content": f"Summary {number} of what was said."}]
        assert main.turn("After the compaction.").outcome == "unmatched"
        other: list[Message] = [{"role": "user", "content": f"Another matter, {number}."}]
        main.request(other, "workflow")
        main.title()


def test_map_2_threads_do_not_disturb_each_other(main: Thread) -> None:
    main.turn("First question.")
    other = Thread(main.server, f"{main.session}-other", hints=main.hints, system=main.system)
    same_id = subagent(other, "a1")
    threads = [main, subagent(main, "a1"), subagent(main, "a2"), same_id]
    for thread in threads[1:]:
        assert thread.turn(f"{thread.session} {thread.agent}, begin.").outcome != "used"
    for number in range(2):
        for thread in threads:
            goes_on(thread, f"Step {number}.")
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda thread: goes_on(thread, "At once."), threads))


def test_map_3_a_fork_subagent_starts_from_its_parent(main: Thread) -> None:
    main.turn("First question.")
    before = main.ends
    main.turn("Fork two helpers.")
    history = copy.deepcopy(main.messages[:-1])
    for number in range(2):
        fork = subagent(main, f"fork-{number}")
        fork.system = main.system
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Agent", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "forked"}
        fork.messages = [
            *copy.deepcopy(history),
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result, {"type": "text", "text": f"Do part {number}."}]},
        ]
        answer = fork.request(fork.messages, "subagent")
        assert answer.outcome == "used"
        # All of the parent up to the reply that called it is repeated, and none of it read again.
        assert answer.cached >= before
        fork.messages.append(answer.message)
        fork.ends = end(fork.server, answer)
        goes_on(fork, "Go on.")
    goes_on(main, "Third question.")


def test_map_3_a_nested_subagent_starts_from_the_subagent(main: Thread) -> None:
    main.turn("First question.")
    middle = subagent(main, "middle")
    middle.turn("Begin.")
    goes_on(middle, "Go on.")
    nested = subagent(main, "nested", parent="middle")
    nested.system, nested.messages, nested.ends = (
        middle.system,
        copy.deepcopy(middle.messages),
        middle.ends,
    )
    goes_on(nested, "Now you.")
    goes_on(middle, "And you.")


def test_map_9_a_stale_copy_does_not_cost_the_live_conversation_its_state(main: Thread) -> None:
    main.turn("First question.")
    stale = copy.deepcopy(main.messages)
    for number in range(3):
        goes_on(main, f"Question {number}.")
    old = main.request([*stale, {"role": "user", "content": "From an older copy."}], "main")
    assert old.outcome == "used", "the older state is still inside the newer"
    goes_on(main, "The live one.")


def test_map_9_strangers_on_the_session(main: Thread) -> None:
    main.turn("First question.")
    for number in range(8):
        stranger = main.request(
            [{"role": "user", "content": f"Something else entirely, number {number}."}], "workflow"
        )
        assert stranger.outcome == "unmatched"
        if number > 1:
            goes_on(main, f"Question {number}.")


def test_a_forked_session_starts_from_the_thread_it_repeats(main: Thread) -> None:
    main.turn("First question.")
    goes_on(main, "Second question.")
    forked = copy.copy(main)
    forked.session = f"{main.session}-forked"
    forked.messages = copy.deepcopy(main.messages)
    goes_on(forked, "In the fork.")
    goes_on(main, "In the first.")
    stranger = copy.copy(main)
    stranger.session, stranger.key = f"{main.session}-other-key", "sk-example-key-two"
    stranger.messages = copy.deepcopy(main.messages)
    assert stranger.turn("With another key.").outcome == "unknown"


@pytest.mark.parametrize("session", ["", "two, ids", "two ids", "x" * 257])
def test_an_odd_session_id_gets_no_name(mapped: Server, session: str) -> None:
    thread = Thread(mapped, session)
    names = set(mapped.handles())
    assert thread.turn("Question.").outcome is None
    # Others may have gone to make room for the reply.
    assert set(mapped.handles()) <= names


def test_map_10_explicit_names_win(main: Thread) -> None:
    main.turn("First question.")
    body = main.body([*main.messages, {"role": "user", "content": "Next."}])
    headers = {**main.headers("main"), "x-halogen-from": "nobody-kept-this"}
    got = main.server.http.post("/v1/messages", json={**body, "stream": False}, headers=headers)
    assert got.headers["x-halogen-from"] == "unknown"
    goes_on(main, "Second question.")


def test_map_7_the_attribution_line_never_reaches_the_prompt(main: Thread) -> None:
    body = main.body([{"role": "user", "content": "Hello."}])
    without = {**body, "system": body["system"][1:]}
    lengths = {count(main.server, each, main.headers("main")) for each in (body, without)}
    assert len(lengths) == 1
    quoted = {**body, "messages": [{"role": "user", "content": body["system"][0]["text"]}]}
    assert count(main.server, quoted, main.headers("main")) > lengths.pop() + 5
