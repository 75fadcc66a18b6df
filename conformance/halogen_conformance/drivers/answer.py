"""One exchange read through the eyes of its route: the reply, the outcome, every problem."""

from dataclasses import dataclass, replace

from halogen_conformance.drivers.driver import FROM, KEEP, Driver
from halogen_conformance.drivers.exchange import Ending, Exchange
from halogen_conformance.drivers.reply import Problem, Reply

OUTCOMES = frozenset({"used", "unmatched", "unknown"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a test looks at. ``problems`` are breaches of the wire format, in no order of weight."""

    exchange: Exchange
    reply: Reply
    problems: tuple[Problem, ...]

    @property
    def status(self) -> int | None:
        return self.exchange.status

    @property
    def ok(self) -> bool:
        """Answered: status 200, arrived whole, no error inside the stream."""
        complete = self.exchange.ending is Ending.COMPLETE
        return complete and self.exchange.status == 200 and self.reply.error is None

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Every value of the response header X-Halogen-From (FROM-1 wants exactly one)."""
        return self.exchange.header(FROM)

    @property
    def outcome(self) -> str | None:
        """The outcome if there is exactly one and it is one of the three words, else None."""
        legal = len(self.outcomes) == 1 and self.outcomes[0] in OUTCOMES
        return self.outcomes[0] if legal else None

    @property
    def kept(self) -> tuple[str, ...]:
        """Every value of the response header X-Halogen-Keep (NAME-2)."""
        return self.exchange.header(KEEP)

    @property
    def cost(self) -> int | None:
        """Prompt tokens really evaluated, or None without usage."""
        return self.reply.usage.cost if self.reply.usage else None

    @property
    def story(self) -> str:
        """One line for failure texts: status, outcome, how it ended."""
        words = [f"status {self.status}" if self.status else "no answer"]
        words.append(f"X-Halogen-From: {', '.join(self.outcomes) or 'absent'}")
        if self.exchange.ending is not Ending.COMPLETE:
            words.append(f"{self.exchange.ending.value} {self.exchange.error}".strip())
        if self.reply.error is not None:
            words.append(f"error {self.reply.error.type}: {self.reply.error.message}")
        return "; ".join(words)


def read(driver: Driver, exchange: Exchange, *, streamed: bool) -> Answer:
    """Read an exchange on a driver's route. Never raises: what is wrong becomes a problem.

    ``streamed``: the request asked for a stream.
    """
    problems: list[Problem] = []
    if exchange.ending.is_servers_fault:
        problems.append(Problem(exchange.ending.value, exchange.error))
    reply = Reply()
    if exchange.status == 200 and exchange.is_stream:
        reply = _fold(driver, exchange, problems)
    elif exchange.status is not None and exchange.ending is Ending.COMPLETE:
        try:
            body = exchange.json()
        except ValueError:
            body = None  # the schema check says so
        reply = driver.reply(body) if exchange.status == 200 else driver.error(body)
    if exchange.status == 200 and streamed != exchange.is_stream:
        asked = "a stream" if streamed else "no stream"
        got = f"{exchange.media_type or 'no content type'!r}"
        problems.append(Problem("content-type", f"{asked} was asked for, {got} came"))
    return Answer(exchange, reply, (*reply.problems, *problems))


def _fold(driver: Driver, exchange: Exchange, problems: list[Problem]) -> Reply:
    fold = driver.fold()
    for timed in exchange.events:
        fold.feed(timed.event)
    reply = fold.finish()
    if exchange.bad_utf8:
        problems.append(Problem("stream", "bytes that are not UTF-8"))
    if exchange.ending is Ending.COMPLETE:
        if exchange.torn is not None:
            problems.append(Problem("end of stream", "the last event has no empty line after it"))
        return reply
    # We hung up, or it broke: what is missing at its end is no breach of its own.
    kept = tuple(problem for problem in reply.problems if problem.where != "end of stream")
    problems.extend(kept)
    return replace(reply, problems=())
