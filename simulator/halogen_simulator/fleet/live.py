"""The same agents on a real simulator server, over HTTP, to check the simulation against it.

The server's clock is turned instead of waited for: while requests run, agents' time stands still,
as it does in a simulation with the instant profile. What falls into one tick is sent at once, so
that the server is under load and requests race each other as they would.
"""

import asyncio
import heapq
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from halogen_simulator.fleet.agents import Ask, Fan, Steps, Think, programs
from halogen_simulator.fleet.history import Piece, Role
from halogen_simulator.fleet.names import Outcome
from halogen_simulator.fleet.record import Figures, Record
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.target import connected, lost, one_line, told
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.fleet.world import simulate
from halogen_simulator.profile import INSTANT, load

_WORDS = ("ash", "bay", "cod", "dew", "elm", "fir", "gem", "hay", "ivy", "jay", "kit", "log", "mud")
_OUTCOMES = {"used": Outcome.USED, "unmatched": Outcome.UNMATCHED, "unknown": Outcome.UNKNOWN}


def compare(workload: Workload, url: str, key: str | None, tick: float) -> dict[str, Figures]:
    """The workload on the server at ``url`` and in a simulation with that server's cap and time to
    live. The server must be fresh, with test controls on. Raises ValueError when it is not,
    TargetLost when there is none or it wants another key.

    Tokens are counted by the server in the one and by the workload in the other: their shares
    compare, their numbers do not.
    """
    try:
        figures, service = asyncio.run(_drive(workload, url, key, tick))
    except httpx.HTTPError as error:
        raise lost(url, error) from None
    return {"on the server": figures, "simulated": simulate(workload, service, load(INSTANT))}


def furthest_apart(columns: dict[str, Figures]) -> float:
    """The largest difference between the runs in any of the three outcomes' shares. Raises
    ValueError when there is nothing to compare."""
    if not all(figures.starts for figures in columns.values()):
        raise ValueError("no request started from a name: nothing to compare; simulate more turns")
    apart = 0.0
    for outcome in ("used", "unmatched", "unknown"):
        values = [getattr(figures, outcome) for figures in columns.values()]
        apart = max(apart, max(values) - min(values))
    return apart


async def _drive(
    workload: Workload, url: str, key: str | None, tick: float
) -> tuple[Figures, Service]:
    async with connected(url, key, timeout_s=60) as client:
        service = await _service(client)
        return await Driver(client, tick).run(workload), service


async def _service(client: httpx.AsyncClient) -> Service:
    answer = await client.get("/halogen/handles")
    if answer.status_code == 404:
        raise ValueError("GET /halogen/handles gives 404: start the server with HALOGEN_FORK=1")
    if answer.is_error:
        raise ValueError(told(answer))
    try:
        handles = answer.json()
        held, service = handles["data"], Service(cap=handles["max_handles"], ttl=handles["ttl_s"])
    except (ValueError, TypeError, KeyError):
        said = one_line(answer.text)
        raise ValueError(f"GET /halogen/handles gives no list of names: {said}") from None
    if held:
        raise ValueError("the server already holds names: start a fresh one")
    return service


@dataclass(slots=True)
class _Agent:
    steps: Steps
    caller: "_Agent | None" = None
    at: float = 0.0
    """Its own time: when it goes on."""
    called: int = field(default=0)
    """Agents that it waits for."""


class Driver:
    """Plays agents' steps against a server whose clock can be turned. ``tick`` in seconds; 0 sends
    requests one by one, in the order of the simulation."""

    def __init__(self, client: httpx.AsyncClient, tick: float) -> None:
        self._client, self._tick = client, tick
        self._record = Record()
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, _Agent]] = []
        self._began = time.monotonic()
        self._turned = 0.0

    async def run(self, workload: Workload) -> Figures:
        """Play the workload to its end. Raises ValueError when the server refuses a request,
        TargetLost when it is for the key, httpx.HTTPError."""
        for steps in programs(workload):
            self._wake(_Agent(steps), 0.0)
        now = 0.0
        while self._due:
            now = self._due[0][0]
            batch = []
            while self._due and self._due[0][0] <= now + self._tick:
                batch.append(heapq.heappop(self._due)[2])
            await self._turn_clock(now)
            try:
                async with asyncio.TaskGroup() as tasks:
                    for agent in batch:
                        tasks.create_task(self._go_on(agent))
            except ExceptionGroup as group:  # one line is said: of the first that went wrong
                raise group.exceptions[0] from None
        return self._record.figures(seconds=now)

    def _wake(self, agent: _Agent, at: float) -> None:
        agent.at = at
        heapq.heappush(self._due, (at, next(self._numbers), agent))

    async def _turn_clock(self, to: float) -> None:
        """The server's clock also runs by itself: only what is missing is added."""
        missing = to - self._turned - (time.monotonic() - self._began)
        if missing > 0:
            answer = await self._client.post("/simulator/clock", json={"advance_s": missing})
            if answer.is_error:
                raise ValueError(
                    f"POST /simulator/clock gives {answer.status_code}: "
                    "start the server with --test-controls"
                )
            self._turned += missing

    async def _go_on(self, agent: _Agent) -> None:
        for step in agent.steps:
            match step:
                case Ask():
                    await self._ask(step)
                case Think(seconds):
                    self._wake(agent, agent.at + seconds)
                    return
                case Fan(agents):
                    agent.called = len(agents)
                    for steps in agents:
                        self._wake(_Agent(steps, caller=agent), agent.at)
                    return
        caller = agent.caller
        if caller is not None:
            caller.called -= 1
            caller.at = max(caller.at, agent.at)
            if not caller.called:
                self._wake(caller, caller.at)

    async def _ask(self, ask: Ask) -> None:
        named = {"X-Halogen-From": ask.start_from, "X-Halogen-Keep": ask.keep}
        answer = await self._client.post(
            "/v1/chat/completions",
            headers={header: name for header, name in named.items() if name is not None},
            json={
                "model": "any",
                "max_tokens": ask.reply,
                "messages": list(self._messages(ask.history)),
            },
        )
        if answer.is_error:
            raise ValueError(told(answer))
        body = answer.json()
        ask.answer.text = body["choices"][0]["message"]["content"] or ""
        usage = body["usage"]
        prompt = usage["prompt_tokens"]
        cached = usage["prompt_tokens_details"]["cached_tokens"]
        said = answer.headers.get("x-halogen-from")
        outcome = Outcome.ABSENT if said is None else _OUTCOMES[said]
        self._record.add(ask, outcome, prompt, prompt - cached, math.nan)

    def _messages(self, history: Piece) -> Iterator[dict[str, Any]]:
        for piece in history.messages():
            if piece.text is None:
                piece.text = self._text(piece)
            yield {"role": piece.role.value, "content": piece.text}

    def _text(self, piece: Piece) -> str:
        """About as many words as the piece has tokens, like no other piece's."""
        assert piece.role is not Role.ASSISTANT, "the server writes the replies"
        number = next(self._numbers)
        words = (_WORDS[(number + index) % len(_WORDS)] for index in range(piece.tokens))
        return f"{number}: {' '.join(words)}"
