"""The example, scene by scene: what is asked on which route, and what the protocol says must come
of it."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from demo.brief import RULES, TASK, TESTS
from demo.route import Answer, Ask, Turn

CAP = 3
"""``HALOGEN_FORK_HANDLES`` in the demo: small, so that the story meets it."""

USED, UNMATCHED, UNKNOWN = "used", "unmatched", "unknown"
CHAT, MESSAGES, RESPONSES = "chat", "messages", "responses"

_PLAN_TOKENS, _REPLY_TOKENS, _CALL_TOKENS, _NOTE_TOKENS = 32, 12, 48, 6

Held = Callable[[Answer], int]
"""From a request's answer to the prompt tokens that were kept and need no evaluation."""


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a scene."""

    label: str
    route: str
    ask: Ask
    outcome: str | None
    """What ``X-Halogen-From`` must say; None: the header must be absent."""
    held: Held = lambda answer: 0
    """Only for ``used``: see :data:`Held`."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Requests that are sent at once."""

    title: str
    parts: tuple[Part, ...]


@dataclass(slots=True)
class Names:
    """Other clients of a server could guess a plain name: each run makes its own."""

    mark: str = field(default_factory=lambda: secrets.token_hex(2))

    def __call__(self, word: str) -> str:
        return f"{word}-{self.mark}"

    def word(self, name: str) -> str:
        """A name without this run's mark."""
        return name.removesuffix(f"-{self.mark}")


def story(names: Names, heard: dict[str, Answer]) -> Iterator[Scene]:
    """The scenes in order. After each, ``heard`` holds its answers by label: what a scene sends
    depends on what was answered before."""
    plan, joined, called = names("plan"), names("join"), names("call")

    opening = Ask((Turn("system", RULES), Turn("user", TASK)), _PLAN_TOKENS, keep=plan)
    yield _alone(f"a plan is made and kept as {plan}", "plan", CHAT, opening, None)
    planned = heard["plan"]
    history = (*opening.turns, Turn("assistant", planned.text))
    held = _held(planned)

    def worker(part: str, route: str) -> Part:
        ask = _goes_on(history, f"Do part {part} of the plan and say what you changed.", plan)
        return Part(f"worker {part}", route, ask, USED, held)

    workers = worker("A", CHAT), worker("B", MESSAGES), worker("C", RESPONSES)
    yield Scene(f"three workers at once from {plan}, one on each route (FROM-10)", workers)

    done = " ".join(f"Part {part} is done: {heard[f'worker {part}'].text}" for part in "ABC")
    join = _goes_on(history, f"{done} What is left to do?", plan, keep=joined)
    yield _alone(f"a join: from {plan}, kept as {joined}", "join", RESPONSES, join, USED, held)

    partial = Turn("assistant", beginning(planned.text))
    branch = Ask((*opening.turns, partial), _REPLY_TOKENS, start=plan, partial=True)
    # Nothing in it is new: the whole prompt was kept.
    branches = (
        Part(f"branch {number}", route, branch, USED, lambda answer: answer.prompt)
        for number, route in enumerate((CHAT, MESSAGES, RESPONSES), 1)
    )
    yield Scene(f"from inside the reply of {plan}, once on each route (BRANCH)", tuple(branches))

    yield from _tool_scenes(called, heard)

    edited = Turn("user", TASK.replace("parser", "scanner", 1))
    other = _goes_on((history[0], edited, *history[2:]), "Do part A of the plan.", plan)
    title = f"a history that does not repeat {plan}"
    yield _alone(title, "edited", MESSAGES, other, UNMATCHED)

    nobody = _goes_on(history, "Do part D of the plan.", names("nobody"))
    yield _alone("a name that was never kept", "unknown", RESPONSES, nobody, UNKNOWN)

    note = Ask((Turn("user", "Ask for a review."),), _NOTE_TOKENS, keep=names("note"))
    title = f"{note.keep} is kept, one name more than there is room for (LIFE)"
    yield _alone(title, LABEL_AT_CAP, CHAT, note, None)

    told = (*join.turns, Turn("assistant", heard["join"].text))
    gone = _goes_on(told, "Write the release note.", joined)
    yield _alone(f"{joined}, released to make room", "released", CHAT, gone, UNKNOWN)

    again = _goes_on(history, "Do part D of the plan.", plan)
    yield _alone(f"{plan} once more", "worker D", MESSAGES, again, USED, held)


def _tool_scenes(name: str, heard: dict[str, Answer]) -> Iterator[Scene]:
    """A call, made and kept on one route; its result, given on another (FROM-10, FROM-11)."""
    order = Turn("user", "Run the tests of part B and say how they went.")
    ask = Ask((order,), _CALL_TOKENS, keep=name, tool=TESTS, must_call=True)
    yield _alone(f"a tool call, kept as {name}", "tool call", MESSAGES, ask, None)
    asked = heard["tool call"]
    if asked.call is None:
        return  # Judged already: there is nothing to give a result of.
    turns = order, Turn("assistant", asked.text, asked.call), Turn("tool", "5 passed", asked.call)
    told = Ask(turns, _REPLY_TOKENS, start=name, tool=TESTS)
    title = f"the call's result, from {name} on another route (FROM-11)"
    yield _alone(title, "tool result", RESPONSES, told, USED, _held(asked))


SCENES = 11
LABEL_AT_CAP = "note"
"""The request that meets the cap."""


def beginning(reply: str) -> str:
    """The first half of a reply, cut between two words where it has some."""
    half = len(reply) // 2
    return reply[: max(reply.rfind(" ", 0, half), 0) or half]


def _alone(
    title: str,
    label: str,
    route: str,
    ask: Ask,
    outcome: str | None,
    held: Held = lambda answer: 0,
) -> Scene:
    return Scene(title, (Part(label, route, ask, outcome, held),))


def _held(kept: Answer) -> Held:
    """For a request that goes on after a kept reply."""
    return lambda _: kept.prompt + kept.output


def _goes_on(history: tuple[Turn, ...], text: str, start: str, keep: str | None = None) -> Ask:
    return Ask((*history, Turn("user", text)), _REPLY_TOKENS, start=start, keep=keep)
