"""The example, scene by scene: what is asked, and what the protocol says must come of it."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from demo.brief import RULES
from demo.route import Answer, Ask, Turn

CAP = 3
"""``HALOGEN_FORK_HANDLES`` in the demo: small, so that the story meets it."""

USED, UNMATCHED, UNKNOWN = "used", "unmatched", "unknown"

_PLAN_TOKENS, _WORKER_TOKENS, _NOTE_TOKENS = 48, 24, 8

Held = Callable[[Answer], int]
"""From a request's answer to the prompt tokens that were kept and need no evaluation."""


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a scene."""

    label: str
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


Script = Iterator[Scene]


def story(names: Names, heard: dict[str, Answer], task: str) -> Script:
    """The scenes in order. After each, ``heard`` holds its answers by label: what a scene sends
    depends on what was answered before."""
    plan, joined = names("plan"), names("join")
    opening = Ask((Turn("system", RULES), Turn("user", task)), max_tokens=_PLAN_TOKENS, keep=plan)
    yield Scene(f"a plan is made and kept as {plan}", (Part("plan", opening, None),))
    planned = heard["plan"]
    history = (*opening.turns, Turn("assistant", planned.text))
    held = planned.prompt + planned.output

    def worker(part: str) -> Part:
        ask = _goes_on(history, f"Do part {part} of the plan and say what you changed.", plan)
        return Part(f"worker {part}", ask, USED, lambda _: held)

    yield Scene(f"three workers at once from {plan}", tuple(worker(part) for part in "ABC"))

    done = " ".join(f"Part {part} is done: {heard[f'worker {part}'].text}" for part in "ABC")
    join = _goes_on(history, f"{done} What is left to do?", plan, keep=joined)
    yield Scene(
        f"a join: from {plan}, kept as {joined}", (Part("join", join, USED, lambda _: held),)
    )

    partial = Turn("assistant", beginning(planned.text))
    branch = Ask((*opening.turns, partial), _WORKER_TOKENS, start=plan, partial=True)
    # Nothing in it is new: the whole prompt was kept.
    inside = Part("branch", branch, USED, lambda answer: answer.prompt)
    yield Scene(f"a branch from inside the reply of {plan}", (inside,))

    edited = Turn("user", task.replace("parser", "scanner", 1))
    other = _goes_on((history[0], edited, *history[2:]), "Do part A of the plan.", plan)
    yield Scene(
        f"a history that does not repeat {plan}", (Part("edited history", other, UNMATCHED),)
    )

    nobody = _goes_on(history, "Do part D of the plan.", names("nobody"))
    yield Scene("a name that was never kept", (Part("unknown name", nobody, UNKNOWN),))

    for number in range(1, CAP):
        note = Ask((Turn("user", f"Note {number}: ask for a review."),), _NOTE_TOKENS)
        note = replace(note, keep=names(f"note{number}"))
        full = number == CAP - 1
        title = f"{note.keep} is kept" + (", one name more than there is room for" if full else "")
        yield Scene(title, (Part(f"note {number}", note, None),))

    told = (*join.turns, Turn("assistant", heard["join"].text))
    gone = _goes_on(told, "Write the release note.", joined)
    yield Scene(f"{joined}, released to make room", (Part("released name", gone, UNKNOWN),))

    again = _goes_on(history, "Do part E of the plan.", plan)
    yield Scene(f"{plan} once more", (Part("worker E", again, USED, lambda _: held),))


SCENES = 8 + CAP - 1
LABEL_AT_CAP = f"note {CAP - 1}"
"""The request that meets the cap."""


def beginning(reply: str) -> str:
    """The first half of a reply, cut between two words where it has some."""
    half = len(reply) // 2
    return reply[: max(reply.rfind(" ", 0, half), 0) or half]


def _goes_on(history: tuple[Turn, ...], text: str, start: str, keep: str | None = None) -> Ask:
    return Ask((*history, Turn("user", text)), _WORKER_TOKENS, start=start, keep=keep)
