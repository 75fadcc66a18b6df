"""What an agent program does, as plain steps: think, ask, call subagents and wait for them.

The steps know nothing of where they run. :mod:`world` plays them against simulated servers,
:mod:`live` against a real one.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from random import Random

from halogen_simulator.fleet.history import Piece, Role
from halogen_simulator.fleet.workload import Workload


class Kind(IntEnum):
    """Whose request it is."""

    MAIN = 0
    FORK = 1
    """A subagent's first request, when it starts from the main conversation."""
    SUBAGENT = 2
    SIDE = 3


@dataclass(slots=True, eq=False)
class Ask:
    """One request, with the names in its headers. ``answer`` is the history with the reply."""

    program: int
    kind: Kind
    start_from: str | None
    keep: str | None
    history: Piece
    answer: Piece = field(init=False)

    reply: int
    """Tokens of the reply."""

    def __post_init__(self) -> None:
        self.answer = self.history.then(Role.ASSISTANT, self.reply)


@dataclass(slots=True)
class Think:
    """Nothing for some seconds."""

    seconds: float


@dataclass(slots=True)
class Fan:
    """Agents that work at the same time; the caller goes on when all are done."""

    agents: "list[Steps]"


Steps = Iterator[Ask | Think | Fan]


def programs(workload: Workload) -> Iterator[Steps]:
    """Every program of a workload. The first starts at once."""
    # All programs run the same client: one system text, of which a server holds no state unless
    # a conversation that begins with it was kept.
    system = Piece(Role.SYSTEM, workload.system_tokens)
    arrivals, start = workload.random("arrivals"), 0.0
    for number in range(workload.programs):
        yield _program(workload, number, system, start)
        if workload.arrival_s:
            start += arrivals.expovariate(1 / workload.arrival_s)


def _program(load: Workload, number: int, system: Piece, start: float) -> Steps:
    random = load.random(number)
    name = f"program-{number}"
    known: str | None = None
    history = system
    yield Think(start)
    for turn in range(load.turns):
        if turn:
            yield Think(load.think(random))
        message = load.tokens(load.message_tokens, random)
        if known and random.random() < load.rewrite:
            # The client changed an earlier message: as long as before, but another history.
            history = system.then(Role.USER, history.total - system.total + message)
        else:
            history = history.then(Role.USER, message)
        history = yield from _work(load, random, number, Kind.MAIN, (name, known), history)
        known = name
        recap = history.then(Role.USER, load.tokens(load.message_tokens, random))
        reply = load.tokens(load.reply_tokens, random)
        if random.random() < load.side and recap.total + reply <= load.context:
            yield Ask(number, Kind.SIDE, name, None, recap, reply)
        if load.subagents and random.random() < load.fan_out:
            who = [f"{name}.{turn}.{index}" for index in range(load.subagents)]
            yield Fan([_subagent(load, number, sub, name, history) for sub in who])
            results = load.subagents * load.tokens(load.reply_tokens, random)
            history = history.then(Role.USER, min(results, 2 * load.longest))
            history = yield from _work(load, random, number, Kind.MAIN, (name, name), history, 1)


def _subagent(load: Workload, program: int, name: str, parent: str, history: Piece) -> Steps:
    random = load.random(name)
    task = load.tokens(load.message_tokens, random)
    if random.random() < load.fork:
        history, start_from = history.then(Role.USER, task), parent
    else:
        history, start_from = history.messages()[0].then(Role.USER, task), None
    # Calls are written out one after the other: subagents never start in the same instant.
    yield Think(random.random())
    yield from _work(load, random, program, Kind.SUBAGENT, (name, start_from), history)


def _work(
    load: Workload,
    random: Random,
    program: int,
    kind: Kind,
    names: tuple[str, str | None],
    history: Piece,
    requests: int | None = None,
) -> Generator[Ask | Think | Fan, None, Piece]:
    """Requests of one conversation with a tool between any two; returns its history.

    ``names`` are its own name and the one its first request starts from.
    """
    name, start_from = names
    if requests is None:
        mean = load.steps if kind is Kind.MAIN else load.subagent_steps
        requests = load.count(mean, random)
    for request in range(requests):
        if request:
            yield Think(load.tool(random))
            history = history.then(Role.USER, load.tokens(load.result_tokens, random))
        if history.total + load.longest > load.context:
            # Compaction: the system text stays, the rest becomes a summary (MAP-8).
            history = history.messages()[0].then(Role.USER, load.summary_tokens)
        forks = kind is Kind.SUBAGENT and start_from not in (None, name)
        reply = load.tokens(load.reply_tokens, random)
        ask = Ask(program, Kind.FORK if forks else kind, start_from, name, history, reply)
        yield ask
        history, start_from = ask.answer, name
    return history
