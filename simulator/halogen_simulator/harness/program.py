"""The agent program: one turn of a session is as many requests as its tools ask for."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.arrival import brings_text
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Call, Conversation
from halogen_conformance.drivers.driver import BadOwnRequest, Driver, Options
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_simulator.harness.history import history
from halogen_simulator.harness.session import (
    Session,
    said_by_model,
    said_by_tool,
    said_by_user,
)
from halogen_simulator.harness.tools import Output, Toolbox
from halogen_simulator.values import wants_a_key

COLD = "cold"
"""In place of an outcome: the request named nothing to start from."""
ABSENT = "absent"
"""The request named a state and the answer does not say what came of it: sessions are off."""

SUMMARY = "Summarise this conversation for whoever goes on with it, in a few sentences."


class TurnFailed(Exception):
    """A request that was not answered; the message says what happened and what to do."""


class NoServer(TurnFailed):
    """Nobody answers, or nobody lets us in: no other request would fare better."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What came of one request. None: the answer does not tell."""

    outcome: str
    evaluated: int | None
    reused: int | None
    first_token_s: float | None
    refused: bool = False
    """The server would not keep a state under the name."""


@dataclass(frozen=True, slots=True)
class Round:
    """One request of a turn: what the model said, and what its tools answered."""

    text: str
    cost: Cost
    results: tuple[tuple[Call, Output], ...] = ()


OnRound = Callable[[Round], None]


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that is the same for all sessions. Safe to share between threads."""

    client: Client
    driver: Driver
    options: Options
    toolbox: Toolbox = field(default_factory=Toolbox)
    system: str = ""
    most_rounds: int = 8
    """Requests in one turn: a model that calls tools for ever is stopped."""

    def turn(self, session: Session, text: str, on_round: OnRound) -> list[Round]:
        """Say something and let the model and its tools answer. ``on_round`` sees each request as
        soon as it is answered.

        Each reply is kept under the session's name, and the next request starts from it. Raises
        TurnFailed; what was said until then stays in the transcript. Raises OSError when the
        transcript cannot be written.
        """
        session.add(said_by_user(text))
        rounds: list[Round] = []
        while True:
            last = len(rounds) + 1 == self.most_rounds
            answer = self._ask(session, last)
            reply = answer.reply
            session.kept = session.name
            session.tally.add(reply.usage)
            session.add(said_by_model(reply))
            results = tuple((call, self.toolbox.run(call)) for call in reply.calls)
            for call, output in results:
                session.add(said_by_tool(call.id, call.name, output))
            rounds.append(Round(reply.text, cost(answer), results))
            on_round(rounds[-1])
            if not results or last:
                return rounds

    def summarise(self, session: Session) -> Round:
        """Ask for a summary of the session. It is a side request: it starts from the session's
        state and keeps nothing. Raises TurnFailed."""
        told = self.history(session).user(SUMMARY)
        answer = self._send(told, tool_choice=self._no_tools(), start=session.kept)
        session.tally.add(answer.reply.usage)
        if not answer.reply.text.strip():
            raise TurnFailed("the model gave an empty summary; the history stays as it is")
        return Round(answer.reply.text, cost(answer))

    def history(self, session: Session) -> Conversation:
        return history(session.transcript.messages, self.system, self.toolbox.offered)

    def _ask(self, session: Session, last: bool) -> Answer:
        choice = self._no_tools() if last else None
        told = self.history(session)
        return self._send(told, tool_choice=choice, keep=session.name, start=session.kept)

    def _send(
        self,
        told: Conversation,
        *,
        tool_choice: str | None,
        start: str | None,
        keep: str | None = None,
    ) -> Answer:
        options = replace(self.options, tool_choice=tool_choice)
        try:
            answer = self.client.ask(self.driver, told, options, keep=keep, start=start)
        except BadOwnRequest as error:
            # A transcript written by hand may hold what no API takes.
            raise TurnFailed(
                f"this session cannot be sent ({error}): mend its transcript or use another --route"
            ) from None
        _check(answer, key_given=self.client.key is not None)
        return answer

    def _no_tools(self) -> str | None:
        return "none" if self.toolbox.tools else None


def cost(answer: Answer) -> Cost:
    """What an answered request cost."""
    asked = any(name.lower() == "x-halogen-from" for name, _ in answer.exchange.request_headers)
    usage = answer.reply.usage
    return Cost(
        outcome=", ".join(answer.outcomes) or ABSENT if asked else COLD,
        evaluated=usage.cost if usage else None,
        reused=usage.cached if usage else None,
        first_token_s=first_token_s(answer.exchange),
        refused="refused" in answer.kept,
    )


def first_token_s(exchange: Exchange) -> float | None:
    """Seconds until the first piece of the reply; None without a stream, or for an empty reply."""
    route = exchange.route or ""
    arrived = (timed.seconds for timed in exchange.events if brings_text(route, timed.event))
    return next(arrived, None)


def _check(answer: Answer, *, key_given: bool) -> None:
    """Raises TurnFailed unless the answer is whole, NoServer when there will be none."""
    if answer.ok and answer.reply.finish is not None:
        return
    exchange, error = answer.exchange, answer.reply.error
    if exchange.ending is Ending.UNREACHABLE:
        raise NoServer(f"{exchange.error}: start the server, or give another --base-url")
    if answer.status == 401:
        raise NoServer(wants_a_key(key_given))
    if exchange.ending.is_servers_fault:
        how = f"{exchange.ending.value}: {exchange.error}"
        raise TurnFailed(f"the answer did not arrive whole ({how})")
    if error is not None:
        raise TurnFailed(f"the server answered {answer.status}: {error.message or error.type}")
    raise TurnFailed(f"what the server answered with {answer.status} is no reply on this route")
