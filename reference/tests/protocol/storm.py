"""A storm: many clients at once that keep, fork, branch, break off and send nonsense.

Each client remembers what it kept, so it knows what the server may say; all clients together
remember every greedy reply, because one history has one reply.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from itertools import chain

import httpx

from tests.protocol.histories import COUNTING, ONE_TWO
from tests.protocol.routes import History, Reply, Route, Turn, sse
from tests.protocol.server import Server
from tests.protocol.ties import near_tie
from tests.protocol.waiting import PATIENCE

QUESTIONS = ("What is fog?", "What is foam?", "Why?", "Say it again.")
MOST_TURNS = 3
BUSY = (503, 529)
"""The second is Messages' own."""


@dataclass
class Storm:
    """What all clients share."""

    server: Server
    route: Route
    http: httpx.AsyncClient
    seen: Counter[str] = field(default_factory=Counter)
    """How often each thing happened: outcomes, statuses, breaks."""
    replies: dict[tuple[tuple[Turn, ...], str | None, int], str] = field(default_factory=dict)
    """The reply to a history (and partial text, and limit), once anybody has got it."""
    unlike: dict[tuple[tuple[Turn, ...], str | None, int, str, str], str | None] = field(
        default_factory=dict
    )
    """Two replies to one request, and the outcome of the second."""
    wrong: list[str] = field(default_factory=list)
    wanted: dict[str, int] = field(default_factory=dict)
    """What must have happened how often before the storm may end."""
    ends_at: float = 0.0
    """And the loop's time before which it does not end either."""

    @property
    def over(self) -> bool:
        late = asyncio.get_running_loop().time() - self.ends_at
        enough = all(self.seen[what] >= times for what, times in self.wanted.items())
        return late > PATIENCE or (late > 0 and enough)

    def check(self, right: bool, message: str) -> None:
        if not right:
            self.wrong.append(message)


@dataclass
class Held:
    """What a client believes to be under one of its names."""

    history: tuple[Turn, ...]
    reply: str
    gone: bool = False
    """It was ``unknown`` once and was not kept since: it must stay so."""


class Client:
    """One client with three names of its own, doing one thing after another."""

    def __init__(self, storm: Storm, number: int) -> None:
        self.storm = storm
        self.random = random.Random(number)
        self.names = [f"client-{number}-{letter}" for letter in "abc"]
        self.held: dict[str, Held] = {}

    async def run(self) -> None:
        acts = (
            (self.keep, 3),
            (self.fork, 6),
            (self.branch, 2),
            (self.other_history, 4),
            (self.plain, 1),
            (self.leave, 3),
            (self.nonsense, 3),
        )
        weights = [weight for _, weight in acts]
        while not self.storm.over:
            act = self.random.choices([act for act, _ in acts], weights)[0]
            await act()

    async def ask(
        self,
        history: History,
        *,
        start: str | None = None,
        keep: str | None = None,
        partial: str | None = None,
        limit: int = 4,
    ) -> tuple[str | None, Reply] | None:
        """One request; its outcome and its reply, or None for a 503."""
        stream = self.random.random() < 0.5
        body = self.storm.route.body(history, partial=partial, stream=stream, max_tokens=limit)
        got = await self.storm.http.post(
            self.storm.route.path, json=body, headers=_headers(start, keep)
        )
        outcome = got.headers.get("x-halogen-from")
        self.storm.seen[f"{got.status_code} {outcome}"] += 1
        if got.status_code in BUSY:
            return None
        self.storm.check(got.status_code == 200, f"{got.status_code}: {got.text}")
        if got.status_code != 200:
            return None
        route = self.storm.route
        reply = route.streamed(sse(got.text.splitlines())) if stream else route.whole(got.json())
        key = (tuple(history), partial, limit)
        first = self.storm.replies.setdefault(key, reply.text)
        if first != reply.text:
            self.storm.unlike[*key, first, reply.text] = outcome
        if outcome == "used":
            self.storm.check(reply.cached > 0, f"{key}: used, but read again")
        if keep is not None:
            self.held[keep] = Held(tuple(history), (partial or "") + reply.text)
        return outcome, reply

    def expect(self, name: str, outcome: str | None, wanted: str) -> None:
        """Names are only ever released: what is held here is ``wanted`` or ``unknown``."""
        held = self.held.get(name)
        gone = held is None or held.gone
        allowed = {"unknown"} if gone else {wanted, "unknown"}
        self.storm.check(outcome in allowed, f"{name}: {outcome}, not one of {allowed}")
        if held is not None and outcome == "unknown":
            held.gone = True

    def pick(self) -> str:
        return self.random.choice(self.names)

    def question(self) -> tuple[Turn, ...]:
        return (("user", self.random.choice(QUESTIONS)),)

    async def keep(self) -> None:
        await self.ask(self.question(), keep=self.pick())

    async def plain(self) -> None:
        await self.ask(self.question())

    async def fork(self) -> None:
        """Go on from a name; the result is kept nowhere, beside it, or under the same name."""
        name, keep = self.pick(), self.random.choice([None, *self.names])
        held = self.held.get(name)
        if held is None or len(held.history) >= 2 * MOST_TURNS:
            return await self.keep()
        history = (*held.history, ("assistant", held.reply), *self.question())
        gone, answer = held.gone, await self.ask(history, start=name, keep=keep)
        if answer is not None:
            if keep == name:  # what was asked of is replaced by now
                allowed = {"unknown"} if gone else {"used", "unknown"}
                self.storm.check(answer[0] in allowed, f"{name}: {answer[0]} when moved")
            else:
                self.expect(name, answer[0], "used")
        return None

    async def branch(self) -> None:
        name = self.pick()
        held = self.held.get(name)
        if held is None or len(held.reply) < 2:
            return
        partial = held.reply[: self.random.randrange(1, len(held.reply))]
        answer = await self.ask(held.history, start=name, partial=partial)
        if answer is not None:
            self.expect(name, answer[0], "used")

    async def other_history(self) -> None:
        name = self.pick()
        answer = await self.ask((("user", "Who are you?"),), start=name)
        if answer is not None:
            self.expect(name, answer[0], "unmatched")

    async def leave(self) -> None:
        """Ask for much, keep it under an own name, and hang up after an event or two."""
        body = self.storm.route.body(COUNTING, partial=ONE_TWO, stream=True, max_tokens=300)
        request = self.storm.http.build_request(
            "POST", self.storm.route.path, json=body, headers=_headers(None, self.pick())
        )
        got = await self.storm.http.send(request, stream=True)
        self.storm.seen[f"{got.status_code} left"] += 1
        self.storm.check(got.status_code in (200, *BUSY), f"{got.status_code} when leaving")
        events = (line async for line in got.aiter_lines() if line.startswith("data: "))
        for _ in range(self.random.randrange(3) if got.status_code == 200 else 0):
            event = await anext(events)
            self.storm.check("[DONE]" not in event, "the reply was over before its client left")
        await got.aclose()

    async def nonsense(self) -> None:
        """A request that must be refused; it starts from and keeps an own name."""
        name = self.pick()
        body = self.storm.route.body(self.question(), partial=None, stream=False)
        broken = self.random.choice(
            [b"{", b"[1]", b'{"messages": 3}', b"\xff", str({**body, "n": 0}).encode()]
        )
        got = await self.storm.http.post(
            self.storm.route.path, content=broken, headers=_headers(name, name)
        )
        self.storm.seen[f"{got.status_code} nonsense"] += 1
        self.storm.check(got.status_code == 400, f"{got.status_code} for nonsense: {got.text}")

    async def settle(self, listed: Set[str]) -> list[tuple[str, str]]:
        """Ask for every name that is listed, and for one that is not: names and outcomes."""
        names = [name for name in self.held if name in listed]
        names += [name for name in self.held if name not in listed][:1]
        outcomes = []
        for name in names:
            held = self.held[name]
            history = (*held.history, ("assistant", held.reply), ("user", "Why?"))
            answer = await self.ask(history, start=name, limit=1)
            assert answer is not None
            outcomes.append((name, str(answer[0])))
        return outcomes


def _headers(start: str | None, keep: str | None) -> dict[str, str]:
    wanted = {"x-halogen-from": start, "x-halogen-keep": keep}
    return {name: value for name, value in wanted.items() if value is not None}


async def rage(storm: Storm, clients: int, seconds: float) -> None:
    """Let the clients loose until time is over and enough has happened, then check all names."""
    crowd = [Client(storm, number) for number in range(clients)]
    storm.ends_at = asyncio.get_running_loop().time() + seconds
    async with asyncio.TaskGroup() as group:
        for client in crowd:
            group.create_task(client.run())
    await asyncio.to_thread(storm.server.idle)
    listed = set(storm.server.handles())
    strangers = listed - {name for client in crowd for name in client.held}
    storm.check(not strangers, f"listed, but nobody kept them: {strangers}")
    # LIFE-4, in the calm after the storm: listed and used, or not listed and unknown. A name may
    # come to its end while the others are asked for.
    settled = await asyncio.gather(*(client.settle(listed) for client in crowd))
    still = set(storm.server.handles())
    for name, outcome in chain.from_iterable(settled):
        allowed = {"used"} if name in still else {"used", "unknown"}
        storm.check(
            outcome in (allowed if name in listed else {"unknown"}),
            f"{name}: {outcome}, although listed: {name in listed}, {name in still}",
        )
    for (history, partial, limit, first, second), said in storm.unlike.items():
        near = near_tie(storm.server, history, first, second, partial=partial, max_tokens=limit)
        storm.check(near, f"{history} {partial!r}: {first!r}, then {second!r} ({said})")
