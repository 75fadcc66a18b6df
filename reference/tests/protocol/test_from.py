"""FROM: which requests start from a name, what they say of it, and that it costs what it says."""

from collections.abc import Callable
from typing import Any

from tests.protocol.client import Kept, Talk, check_not_used, check_same, check_used
from tests.protocol.histories import SYSTEM, asking
from tests.protocol.routes import Turn

Namer = Callable[[str], str]


def two_turns(talk: Talk, plan: str) -> Kept:
    """A kept conversation of two questions and two replies."""
    first = talk.twin(asking("What is fog?"))
    history = (*asking("What is fog?"), ("assistant", first.text), ("user", "Is it cold?"))
    return talk.kept(plan, history)


def test_from_1_and_2_used(talk: Talk, name: Namer) -> None:
    kept = two_turns(talk, name("plan"))
    answer = check_used(talk, kept, kept.then("Is it wet?"))
    assert answer.headers.get_list("x-halogen-from") == ["used"]
    # Several messages may follow, not only one.
    longer = (*kept.then("Is it wet?"), ("assistant", "It is."), ("user", "Is it grey?"))
    check_used(talk, kept, longer)


def test_from_3_starting_only_reads_one_after_the_other(talk: Talk, name: Namer) -> None:
    kept = two_turns(talk, name("plan"))
    costs = [check_used(talk, kept, kept.then("Is it wet?")).cost for _ in range(3)]
    assert len(set(costs)) == 1
    after = talk.server.handles()[kept.name]
    assert after["tokens"] == kept.tokens


def test_from_3_starting_only_reads_at_once(talk: Talk, name: Namer) -> None:
    kept = two_turns(talk, name("plan"))
    words = ("wet", "grey", "loud", "old")
    forks = [kept.then(f"Is it {word}?") for word in words]
    together = talk.many(*({"history": fork, "start": kept.name} for fork in forks))
    for fork, answer in zip(forks, together, strict=True):
        assert answer.outcome == "used"
        check_same(answer, talk.twin(fork))
    check_used(talk, kept, kept.then("Is it wet?"))


def rewritten(history: tuple[Turn, ...], at: int, text: str) -> tuple[Turn, ...]:
    return (*history[:at], (history[at][0], text), *history[at + 1 :])


DIFFERENT: dict[str, Callable[[tuple[Turn, ...]], tuple[Turn, ...]]] = {
    "system": lambda turns: rewritten(turns, 0, SYSTEM.replace("north", "south")),
    "no system": lambda turns: turns[1:],
    "first message": lambda turns: rewritten(turns, 1, "What is foam?"),
    "white space": lambda turns: rewritten(turns, 1, "What is fog? "),
    "earlier reply": lambda turns: rewritten(turns, 2, turns[2][1] + "!"),
    "last message": lambda turns: rewritten(turns, 3, "Is it warm?"),
    "reply": lambda turns: rewritten(turns, 4, turns[4][1] + "!"),
    "reply cut": lambda turns: rewritten(turns, 4, turns[4][1][:-1]),
    "reply left out": lambda turns: (*turns[:3], turns[5]),
    "turns left out": lambda turns: (turns[0], *turns[3:]),
    "shorter": lambda turns: turns[:2],
    "reply missing": lambda turns: turns[:4],
    "roles": lambda turns: (*turns[:3], ("system", turns[3][1]), *turns[4:]),
}


def test_from_4_anything_else_is_unmatched(whole: Talk, name: Namer) -> None:
    kept = two_turns(whole, name("plan"))
    true = kept.then("Is it wet?")
    for case, change in DIFFERENT.items():
        answer = whole.ask(change(true), start=kept.name, max_tokens=2)
        assert answer.outcome == "unmatched", case
        assert answer.good.cached == 0, case
    check_used(whole, kept, true)


def test_from_4_unmatched_is_answered_as_usual(talk: Talk, name: Namer) -> None:
    kept = two_turns(talk, name("plan"))
    other = DIFFERENT["first message"](kept.then("Is it wet?"))
    check_not_used(talk, "unmatched", other, kept.name)
    check_used(talk, kept, kept.then("Is it wet?"))


def test_from_4_tools_are_part_of_the_history(whole: Talk, name: Namer) -> None:
    def tool(description: str) -> dict[str, object]:
        what = {"name": "tide", "description": description, "parameters": {"type": "object"}}
        return {"type": "function", "function": what}

    none: dict[str, Any] = {"tool_choice": "none"}
    kept = whole.kept(name("plan"), asking("What is fog?"), tools=[tool("When?")], **none)
    on = kept.then("Why?")
    assert whole.ask(on, start=kept.name).outcome == "unmatched"
    assert whole.ask(on, start=kept.name, tools=[tool("Where?")], **none).outcome == "unmatched"
    check_used(whole, kept, on, tools=[tool("When?")], **none)


def test_from_5_unknown_is_answered_as_usual(talk: Talk, name: Namer) -> None:
    check_not_used(talk, "unknown", asking("What is fog?"), name("never"))


def test_from_6_and_7_over_a_long_history(talk: Talk, name: Namer) -> None:
    """The kept part is long; a continuation of four words must not feel it."""
    long = " ".join(
        f"Day {day}: the wind came from the north and the sea was high." for day in range(10)
    )
    kept = talk.kept(name("log"), asking(f"This is my log. {long} Is it right?"))
    answer = check_used(talk, kept, kept.then("Then sign it."))
    assert kept.tokens > 150 and answer.cost < 20


def test_from_9_the_reply_matches_as_text(whole: Talk, name: Namer) -> None:
    """Hot replies are full of token runs their own text would not be cut into (P05)."""
    for seed in range(4):
        hot: dict[str, Any] = {"temperature": 1.5, "seed": seed, "max_tokens": 24}
        kept = whole.kept(name("hot"), asking("List odd things, with code and spaces."), **hot)
        check_used(whole, kept, kept.then("Go on."), respelled=True)


def test_from_9_a_reply_cut_inside_a_word(talk: Talk, name: Namer) -> None:
    """A stop string that ends in the middle of a token cuts that token in two."""
    free = talk.twin(asking("What is fog?"), max_tokens=12).text
    words = [word for word in free.split() if len(word) > 4]
    kept = talk.kept(name("cut"), asking("What is fog?"), max_tokens=12, stop=[words[0][2:4]])
    assert kept.answer.text and kept.answer.text.endswith(words[0][:2])
    check_used(talk, kept, kept.then("Why?"))


def test_from_12_reasoning_left_out_is_another_history(whole: Talk, name: Namer) -> None:
    def messages(*more: dict[str, object], thought: str | None) -> dict[str, object]:
        reply: dict[str, object] = {"role": "assistant", "content": "It is a cloud."}
        if thought is not None:
            reply["reasoning_content"] = thought
        ask = {"role": "user", "content": "What is fog?"}
        why = {"role": "user", "content": "Why?"}
        return {"model": "any", "max_tokens": 6, "messages": [ask, reply, why, *more]}

    plan = name("plan")
    first = whole.post(messages(thought="Be brief."), keep=plan)
    more: tuple[dict[str, object], ...] = (
        {"role": "assistant", "content": first.text},
        {"role": "user", "content": "Is it wet?"},
    )
    for thought, outcome in (("Be brief.", "used"), (None, "unmatched"), ("Be long.", "unmatched")):
        assert whole.post(messages(*more, thought=thought), start=plan).outcome == outcome
