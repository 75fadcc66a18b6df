"""Where a scenario is played: sends its requests, writes down each, and judges it.

What must come of a request follows from the protocol alone. A first one says nothing of a start;
every other is ``used`` and evaluates its new text only (FROM-2, FROM-7). What siblings say is what
the same request is answered without the headers (FROM-3, FROM-6): nothing of one's text is in
another's state.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client, together
from halogen_conformance.drivers.conversation import Assistant, Conversation
from halogen_conformance.drivers.driver import Driver, Options
from halogen_simulator.harness.program import cost
from halogen_simulator.harness.scenarios.step import Ask, Point, Step

SLACK = 16
"""Tokens a server may read again where a kept state ends: an end-of-turn mark, the block of a
paged cache."""

TOO_SHORT = 5 * SLACK
"""Tokens. The cost of going on from a shorter state tells nothing."""


class Broken(Exception):
    """A request was not answered: the scenario cannot go on. ``step`` says which."""


@dataclass(slots=True)
class Stage:
    """One scenario on one route: sends its requests and writes down what came of each."""

    client: Client
    driver: Driver
    options: Options
    names: Sequence[str]
    """Names to keep states under; a scenario that runs after another keeps under the same ones."""
    deterministic: bool = True
    """The same request gets the same reply: compare texts."""
    steps: list[Step] = field(default_factory=list)

    def alone(self, ask: Ask) -> Point:
        """One request by itself. Raises Broken."""
        return self.at_once([ask])[0]

    def at_once(self, asks: Sequence[Ask]) -> list[Point]:
        """Requests at once, each on its own connection. Raises Broken when one is not answered;
        the others are written down first."""
        answers = together(*(self._sender(ask) for ask in asks))
        return self._written(asks, answers)

    def compare(self, asks: Sequence[Ask], points: Sequence[Point]) -> None:
        """Send each request once more without the headers, one after the other, and hold its
        answer against what was answered before. Raises Broken."""
        for ask, point in zip(asks, points, strict=True):
            answer = self._sender(replace(ask, start=None, keep=None))()
            self._answered(ask, answer)
            wrong = self._unlike(ask, answer, point)
            self.steps.append(Step(f"{ask.label}, cold", None, cost(answer), wrong, twin=True))

    def _sender(self, ask: Ask) -> Callable[[], Answer]:
        start = ask.start.name if ask.start else None
        options = ask.options or self.options
        return lambda: self.client.ask(
            self.driver, ask.history, options, keep=ask.keep, start=start
        )

    def _written(self, asks: Sequence[Ask], answers: Sequence[Answer]) -> list[Point]:
        for ask, answer in zip(asks, answers, strict=True):
            if answer.ok:
                parent = ask.start.label if ask.start else None
                wrong = _judged(ask, answer)
                self.steps.append(Step(ask.label, parent, cost(answer), wrong))
        for ask, answer in zip(asks, answers, strict=True):
            self._answered(ask, answer)
        return [_point(ask, answer) for ask, answer in zip(asks, answers, strict=True)]

    def _answered(self, ask: Ask, answer: Answer) -> None:
        if not answer.ok:
            raise Broken(f"{ask.label}: not answered ({answer.story})")

    def _unlike(self, ask: Ask, twin: Answer, point: Point) -> tuple[str, ...]:
        text = _whole_text(ask.history, twin.reply.text)
        if self.deterministic and text != point.reply:
            return (f"said {_cut(point.reply)}, and without the headers {_cut(text)}",)
        usage = twin.reply.usage
        if usage and point.held is not None and self.deterministic:
            size = usage.prompt + usage.output
            if size != point.held:
                return (f"{point.held} tokens in all, and {size} without the headers",)
        return ()


def _judged(ask: Ask, answer: Answer) -> tuple[str, ...]:
    if ask.start is None:
        if answer.outcomes:
            return (f"X-Halogen-From says {', '.join(answer.outcomes)}, and nothing was asked",)
        return ()
    if answer.outcomes != ("used",):
        found = ", ".join(answer.outcomes) or "absent"
        return (f"X-Halogen-From is {found}, it should be used",)
    if _repeats(ask.history, answer.reply.text):
        return ("what was sent of the reply is said again, instead of what follows it",)
    usage, held = answer.reply.usage, ask.start.held
    if usage is None or held is None:
        return ("the answer has no usage: what it cost cannot be seen",)
    if held < TOO_SHORT:
        return (f"its start has only {held} tokens: what it cost tells nothing",)
    most = max(0, usage.prompt - held) + SLACK
    if usage.cost > most:
        return (f"{usage.cost} prompt tokens evaluated, only {most} can be new",)
    return ()


def _point(ask: Ask, answer: Answer) -> Point:
    usage = answer.reply.usage
    held = usage.prompt + usage.output if usage else None
    text = _whole_text(ask.history, answer.reply.text)
    turns = ask.history.turns[:-1] if ask.history.partial else ask.history.turns
    history = replace(ask.history, turns=(*turns, Assistant(text)), partial=False)
    return Point(ask.label, history, text, ask.keep, held)


def _whole_text(history: Conversation, said: str) -> str:
    """A reply with what was sent of it before it (BRANCH-5)."""
    last = history.turns[-1]
    return last.text + said if history.partial and isinstance(last, Assistant) else said


def _repeats(history: Conversation, said: str) -> bool:
    """A reply begun by the client is begun anew by the server (BRANCH-1 to BRANCH-3). A short
    beginning may well be said twice."""
    last = history.turns[-1]
    begun = last.text.strip() if history.partial and isinstance(last, Assistant) else ""
    return len(begun) >= 8 and said.strip().startswith(begun)


def _cut(text: str) -> str:
    return repr(text if len(text) <= 48 else f"{text[:45]}...")
