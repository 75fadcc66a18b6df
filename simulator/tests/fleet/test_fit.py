"""The fit gives back what a server's costs are, whatever its model likes to say."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from halogen_reference.settings import read
from halogen_simulator.assembly import assemble
from halogen_simulator.engine import Character
from halogen_simulator.fleet.fit import Plan, fitted, line
from halogen_simulator.machine import Machine
from halogen_simulator.profile import Profile, ProfileError
from tests.virtual_time import Transport, run

STEP, ROW, SMALL, LARGE = 0.012, 0.008, 210.0, 340.0
PLAN = Plan(repeats=2)
KNOWN = Profile("k", "", ((64, 250.0), (252, 400.0)), 0.015, 0.006, 1234)


class Reply:
    def __init__(self, number: int, unread: int, due: int) -> None:
        self.number, self.unread, self.due = number, unread, due
        self.tokens: asyncio.Queue[None] = asyncio.Queue()


class Server:
    """A server of known costs. Its model says ten words to anything, but counts for as long as
    ``counted`` makes of the most tokens it may."""

    def __init__(
        self,
        *,
        counted: Callable[[int], int] = lambda most: most,
        keeps: bool = True,
        finds: bool = True,
        disturbed: frozenset[int] = frozenset(),
    ) -> None:
        """``disturbed``: numbers of requests beside which the machine does something else."""
        self._disturbed, self._asked = disturbed, 0
        self._counted, self._keeps, self._finds = counted, keeps, finds
        self._names: dict[str, int] = {}
        self._replies: list[Reply] = []
        self._working: asyncio.Task[None] | None = None
        routes = [
            Route("/v1/chat/completions", self._answer, methods=["POST"]),
            Route("/halogen/handles", self._list),
        ]
        self.app = Starlette(routes=routes)

    async def _list(self, request: Request) -> Response:
        entries = [
            {"name": name, "tokens": tokens, "bytes": 100 * tokens}
            for name, tokens in self._names.items()
        ]
        return JSONResponse({"data": entries})

    async def _answer(self, request: Request) -> Response:
        asked = await request.json()
        prompt = sum(len(message["content"].split()) + 4 for message in asked["messages"])
        start, keep = (request.headers.get(f"x-halogen-{what}") for what in ("from", "keep"))
        cached = self._names[start] if start else 0
        most = asked["max_tokens"]
        counts = asked["continue_final_message"]
        self._asked += 1
        reply = Reply(
            self._asked, prompt - cached, self._counted(most) if counts else min(most, 10)
        )
        if keep and self._keeps:
            self._names[keep] = prompt + reply.due
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": reply.due,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        said = {"x-halogen-from": "used" if self._finds else "unmatched"} if start else None
        return StreamingResponse(self._stream(reply, usage), headers=said)

    async def _stream(self, reply: Reply, usage: dict[str, object]) -> AsyncIterator[str]:
        self._replies.append(reply)
        self._working = self._working or asyncio.ensure_future(self._work())
        try:
            for _ in range(reply.due):
                await reply.tokens.get()
                yield _event({"choices": [{"delta": {"content": " 1,"}}]})
        finally:
            if reply in self._replies:
                self._replies.remove(reply)
        yield _event({"choices": [], "usage": usage})

    async def _work(self) -> None:
        """Batch after batch: a token for each reply, and a chunk of one prompt."""
        while self._replies:
            rows = [reply for reply in self._replies if not reply.unread]
            reading = next((reply for reply in self._replies if reply.unread), None)
            chunk = min(reading.unread, 64 if rows else 252) if reading else 0
            decoding = STEP + ROW * len(rows) if rows else 0
            decoding += any(reply.number in self._disturbed for reply in self._replies)
            await asyncio.sleep(decoding + chunk / (SMALL if chunk <= 64 else LARGE))
            if reading:
                reading.unread -= chunk
                rows += [] if reading.unread else [reading]
            for reply in rows:
                reply.tokens.put_nowait(None)
                reply.due -= 1
                if not reply.due and reply in self._replies:
                    self._replies.remove(reply)
        self._working = None


def _event(event: dict[str, object]) -> str:
    return f"data: {json.dumps(event)}\n\n"


def fit(app: ASGIApp, plan: Plan = PLAN) -> Profile:
    async def work() -> Profile:
        async with httpx.AsyncClient(transport=Transport(app), base_url="http://it") as client:
            return await fitted(client, "own", "", plan)

    return run(work())


# The requests of a plan with two repeats, one of each two measurements.
_EVERY_OTHER = frozenset([3, 6, 8, 10, 11, *range(14, 18), *range(22, 30), 38, 39])


@pytest.mark.parametrize("disturbed", [frozenset(), _EVERY_OTHER])
def test_known_costs_come_back(disturbed: frozenset[int]) -> None:
    profile = fit(Server(disturbed=disturbed).app)
    assert profile.step_s == pytest.approx(STEP, rel=0.02)
    assert profile.row_s == pytest.approx(ROW, rel=0.02)
    assert profile.read_s(30) == pytest.approx(30 / SMALL, rel=0.03)
    assert profile.read_s(64) == pytest.approx(64 / SMALL, rel=0.03)
    assert profile.read_s(252) == pytest.approx(252 / LARGE, rel=0.03)
    assert profile.bytes_per_token == 100
    assert profile.depth == pytest.approx(PLAN.depth, rel=0.02)


@pytest.mark.parametrize("known", [KNOWN, Profile("r", "", ((64, 900.0),), 0.0, 0.011, 77)])
def test_a_simulator_with_a_profile_is_fitted_back(known: Profile) -> None:
    app = assemble(read({"HALOGEN_FORK": "1"}), Character(pace=Machine(known))).app
    profile = fit(app)
    assert profile.step_s == pytest.approx(known.step_s, rel=0.02, abs=1e-4)
    assert profile.row_s == pytest.approx(known.row_s, rel=0.02)
    for chunk in (40, 64, 252):
        assert profile.read_s(chunk) == pytest.approx(known.read_s(chunk), rel=0.03)
    # The last token of a kept reply has no memory yet, and is counted all the same.
    assert profile.bytes_per_token == pytest.approx(known.bytes_per_token, abs=1, rel=0.01)


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (Server(counted=lambda most: min(most, 10)), "hardly decoded together"),
        (
            Server(counted=lambda most: most if most <= 32 else 5),
            "ended while a prompt was read",
        ),
        (Server(keeps=False), "keeps no names"),
        (Server(finds=False), "did not start from what it kept"),
    ],
)
def test_a_server_that_cannot_be_measured_is_told_why(server: Server, said: str) -> None:
    with pytest.raises(ProfileError, match=said):
        fit(server.app)


@pytest.mark.parametrize(
    ("paces", "step", "row"),
    [
        ({1: 0.02, 2: 0.03, 4: 0.05}, 0.01, 0.01),
        ({1: 0.01, 2: 0.03}, 0.0, 0.01154),  # below nought: no step
        ({1: 0.03, 2: 0.01}, 0.012, 0.0),  # and no row
    ],
)
def test_the_line_through_the_paces(paces: dict[int, float], step: float, row: float) -> None:
    assert list(line(paces)) == pytest.approx([step, row], rel=0.01)
