"""Traffic of Claude Code's shapes, made up: any size, the same for the same seed."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from halogen_simulator.traffic import kinds
from halogen_simulator.traffic.clients import CLIENTS, DEFAULT
from halogen_simulator.traffic.kinds import Kind
from halogen_simulator.traffic.recording import Message, Recorded
from halogen_simulator.traffic.thread import Block, Session, Thread, text


@dataclass(frozen=True, slots=True)
class Plan:
    """How much traffic, and of what client."""

    sessions: int = 1
    """They run side by side."""
    turns: int = 10
    """What a session's person asks for; after ten, every kind of request has been there."""
    agents: int = 2
    """Subagents, or fork subagents, that a turn calls."""
    seed: int = 0
    client: str = DEFAULT
    hints: bool = False
    words: int = 20
    """About the length of a text."""
    keys: int = 1
    """API keys, given to the sessions in turn."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A request, and what it was made as."""

    record: Recorded
    kind: Kind


def traffic(plan: Plan) -> list[Planned]:
    """All requests in order. Raises KeyError for a client that is not in CLIENTS."""
    rng, numbers = Random(plan.seed), itertools.count(1)
    running = [
        Plot(plan, Session(CLIENTS[plan.client], rng, numbers, key, plan.hints, plan.words)).play()
        for key in itertools.islice(itertools.cycle(_keys(plan.keys)), plan.sessions)
    ]
    found: list[Planned] = []
    while running:
        one = rng.choice(running)
        planned = next(one, None)
        if planned is None:
            running.remove(one)
        else:
            found.append(planned)
    return found


def _keys(count: int) -> list[str]:
    return [f"sk-example-key-{number}" for number in range(1, count + 1)]


class Plot:
    """One session: a person's turns in a shuffled order, and all that goes on beside them."""

    def __init__(self, plan: Plan, session: Session) -> None:
        self._plan, self._session, self._rng = plan, session, session.rng
        self._main = Thread(session, session.words_of(4))
        self._older: list[list[Message]] = []
        """The histories since the last compaction, oldest first."""
        self._helpers = itertools.count(1)
        self._nested = False
        """A subagent has called one of its own."""

    def play(self) -> Iterator[Planned]:
        """The session's requests."""
        yield Planned(self._main.hello(), kinds.HELLO)
        yield Planned(self._main.title(), kinds.TITLE)
        first = True
        for act in self._acts():
            yield from act(self, first)
            first = False

    def _acts(self) -> list[Callable[["Plot", bool], Iterator[Planned]]]:
        acts: list[Callable[[Plot, bool], Iterator[Planned]]] = [Plot._talk]
        while len(acts) < self._plan.turns:
            # Of an older copy there must be one: not right at the beginning.
            acts += [Plot._talk, *self._rng.sample(_ACTS, len(_ACTS))]
        return acts[: self._plan.turns]

    # Every act begins with the main conversation's next turn, or ends with one.

    def _talk(self, first: bool = False) -> Iterator[Planned]:
        main = self._main
        if not first:
            yield from self._beside()
        self._ask(main)
        yield Planned(main.turn(), kinds.FIRST if first else kinds.TURN)
        self._remember()

    def _use_tools(self, _: bool) -> Iterator[Planned]:
        yield from self._beside()
        self._ask(self._main, "Use the Bash tool: ")
        yield from self._work(self._main, kinds.TURN, steps=self._rng.randint(1, 3))
        self._remember()

    def _call_agents(self, _: bool) -> Iterator[Planned]:
        named = self._session.client.names_agents
        kind = kinds.SUB_FIRST if named else kinds.STRANGER
        yield from self._call(self._new_agent, kind, "general-purpose")

    def _call_forks(self, _: bool) -> Iterator[Planned]:
        if self._session.client.forks:
            yield from self._call(self._new_fork, kinds.FORK, "fork")
        else:
            yield from self._call_agents(False)

    def _compact(self, _: bool) -> Iterator[Planned]:
        main = self._main
        yield Planned(main.aside(self._session.words_of(2), "compaction"), kinds.COMPACTION)
        main.messages = [{"role": "user", "content": [text(self._session.words_of(3))]}]
        if self._session.client.keeps_last_reply:
            main.messages.append({"role": "assistant", "content": [dict(main.reply)]})
        self._older.clear()
        self._ask(main)
        yield Planned(main.turn(), kinds.REWRITTEN)
        self._remember()

    def _resume_older(self, _: bool) -> Iterator[Planned]:
        # The latest is the live one, and the one before has only just been gone on from.
        if len(self._older) > 1:
            stale = self._main.copied()
            stale.messages = self._rng.choice(self._older[:-1])
            yield Planned(stale.aside(self._session.words_of(), "main"), kinds.OLDER)
        yield from self._talk()

    def _let_strangers_in(self, _: bool) -> Iterator[Planned]:
        for _step in range(self._rng.randint(1, 3)):
            yield Planned(self._main.stranger(self._session.words_of()), kinds.STRANGER)
        yield from self._talk()

    def _fork_session(self, _: bool) -> Iterator[Planned]:
        now = self._session
        forked = self._main.copied(
            Session(now.client, now.rng, now.numbers, now.key, now.hints, now.words)
        )
        self._ask(forked)
        yield Planned(forked.turn(), kinds.SESSION_FORK)
        yield from self._talk()
        self._ask(forked)
        yield from self._work(forked, kinds.TURN, steps=1)

    def _beside(self) -> Iterator[Planned]:
        """Side requests before a turn."""
        main = self._main
        if self._rng.random() < 0.5:
            yield Planned(main.count(), kinds.COUNT)
        if self._rng.random() < 0.3:
            yield Planned(main.probe(), kinds.PROBE)
        if self._rng.random() < 0.3:
            yield Planned(main.title(), kinds.TITLE)
        if self._rng.random() < 0.5:
            yield Planned(main.aside(self._session.words_of(), "auxiliary"), kinds.ASIDE)

    def _call(
        self, make: Callable[[Block, int], Thread], kind: Kind, agent_type: str
    ) -> Iterator[Planned]:
        """The main conversation calls helpers, they work side by side, it goes on with what they
        found."""
        main, rng = self._main, self._rng
        yield from self._beside()
        tool = self._session.client.calls_agents
        self._ask(main, f"Use the {tool} tool: ")
        task = {"description": "part", "subagent_type": agent_type}
        calls = [
            (tool, {**task, "prompt": self._session.words_of()}) for _ in range(self._plan.agents)
        ]
        yield Planned(main.turn(*calls), kinds.TURN)
        made, at = main.calls(), len(main.messages) - 1
        threads = [make(call, at) for call in made]
        working = [self._help(thread, kind) for thread in threads]
        while working:
            one = rng.choice(working)
            planned = next(one, None)
            if planned is None:
                working.remove(one)
            else:
                yield planned
        main.say(*(self._result(call["id"]) for call in made))
        yield Planned(main.turn(), kinds.TURN)
        self._remember()

    def _help(self, thread: Thread, kind: Kind) -> Iterator[Planned]:
        """A helper's work; the first, and now and then another, calls one of its own."""
        yield from self._work(thread, kind, steps=self._rng.randint(1, 3))
        if not self._session.client.names_agents:
            return
        if not self._nested or self._rng.random() < 0.3:
            self._nested = True
            self._ask(thread)
            yield Planned(thread.turn(), kinds.SUB_TURN)
            nested = self._new_agent({"input": {"prompt": self._session.words_of()}}, 0)
            nested.parent = thread.agent
            yield from self._work(nested, kinds.SUB_FIRST, steps=1)
            self._ask(thread)
            yield Planned(thread.turn(), kinds.SUB_TURN)

    def _work(self, thread: Thread, kind: Kind, steps: int) -> Iterator[Planned]:
        """Turns that call a tool and go on with its result; the first is of the given kind."""
        after = kinds.TURN if thread.agent is None else kinds.SUB_TURN
        if kind is kinds.STRANGER:
            after = kinds.STRANGER_TURN
        for step in range(steps):
            call = ("Bash", {"command": self._session.words_of(0.3), "description": "look"})
            yield Planned(thread.turn(call), after if step else kind)
            thread.say(self._result(thread.calls()[0]["id"]))
            if step == 0 and self._rng.random() < 0.5:
                thread.note(self._session.words_of())
        yield Planned(thread.turn(), after)

    def _new_agent(self, call: Block, _: int) -> Thread:
        thread = Thread(
            self._session, self._session.words_of(3), self._new_id(), None, "general-purpose"
        )
        thread.say(text(self._session.words_of(0.5)), text(call["input"]["prompt"]))
        thread.note(self._session.words_of())
        return thread

    def _new_fork(self, call: Block, at: int) -> Thread:
        return self._main.fork(self._new_id(), call["id"], call["input"]["prompt"], at)

    def _new_id(self) -> str:
        # The same ids in every session: they are different threads all the same (MAP-2).
        return f"agent-{next(self._helpers):04d}"

    def _ask(self, thread: Thread, order: str = "") -> None:
        """``order`` makes the simulator call a tool; a model may or may not."""
        content = [text(order + self._session.words_of())]
        if self._rng.random() < 0.3:
            content.insert(0, text(self._session.words_of(0.5)))
        thread.say(*content)
        if self._rng.random() < 0.3:
            thread.note(self._session.words_of())

    def _result(self, call: str) -> dict[str, Any]:
        found = [text(self._session.words_of())]
        return {"type": "tool_result", "tool_use_id": call, "content": found}

    def _remember(self) -> None:
        self._older.append(self._main.copied().messages)


_ACTS: list[Callable[[Plot, bool], Iterator[Planned]]] = [
    Plot._use_tools,
    Plot._call_agents,
    Plot._call_forks,
    Plot._compact,
    Plot._resume_older,
    Plot._let_strangers_in,
    Plot._fork_session,
]
