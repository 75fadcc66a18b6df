"""A simulator in this process: no socket, no waiting, one request after another or all at once."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx

from halogen_conformance.drivers import DRIVERS
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.reply import Reply
from halogen_conformance.drivers.spelling import PLAIN, Spelling
from halogen_reference.settings import read
from halogen_simulator.assembly import Simulator, assemble
from halogen_simulator.engine import Character
from halogen_simulator.faults.fault import Fault

FOG = Conversation().system("Be brief.").user("What is fog?")
NO_OPTIONS = Options(max_tokens=None)


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    outcomes: tuple[str, ...]
    """The values of X-Halogen-From."""
    body: str
    reply: Reply

    @property
    def outcome(self) -> str | None:
        return self.outcomes[0] if self.outcomes else None

    @property
    def cost(self) -> int:
        return self.reply.usage.cost if self.reply.usage else -1


class Talk:
    """A client of one simulator."""

    def __init__(self, simulator: Simulator, http: httpx.AsyncClient) -> None:
        self.simulator, self.http = simulator, http

    async def ask(
        self,
        history: Conversation,
        *,
        route: str = "chat",
        keep: str | None = None,
        start: str | None = None,
        stream: bool = False,
        headers: Mapping[str, str] | None = None,
        spelling: Spelling = PLAIN,
        **options: Any,
    ) -> Answer:
        """One request. ``options`` are :class:`Options`' fields."""
        driver = DRIVERS[route]
        wanted = replace(NO_OPTIONS, stream=stream, **options)
        request = driver.request(history, wanted, spelling)
        return await self.post(request.path, request.body, keep, start, headers, route=route)

    async def post(
        self,
        path: str,
        body: Any,
        keep: str | None = None,
        start: str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        route: str = "chat",
    ) -> Answer:
        names = {"x-halogen-keep": keep, "x-halogen-from": start}
        sent = {name: value for name, value in names.items() if value is not None}
        got = await self.http.post(path, json=body, headers=_encoded({**sent, **(headers or {})}))
        whole = got.status_code == 200 and "json" in got.headers.get("content-type", "")
        reply = DRIVERS[route].reply(got.json()) if whole else Reply()
        outcomes = tuple(got.headers.get_list("x-halogen-from"))
        return Answer(got.status_code, outcomes, got.text, reply)

    async def names(self, headers: Mapping[str, str] | None = None) -> list[str] | int:
        """The live names, in alphabetical order; the status when there is no list."""
        got = await self.http.get("/halogen/handles", headers=headers)
        if got.status_code != 200:
            return got.status_code
        return sorted(row["name"] for row in got.json().get("data", ()))

    def advance(self, seconds: float) -> None:
        self.simulator.clock.advance(seconds)


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


@asynccontextmanager
async def running(
    fault: Fault | None = None,
    character: Character | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    controls: bool = False,
) -> AsyncIterator[Talk]:
    """A simulator with these settings; the protocol is on unless they say otherwise."""
    chosen = read({"HALOGEN_FORK": "1", **(settings or {})})
    simulator = assemble(chosen, character, fault=fault, test_controls=controls)
    sessions = simulator.server.sessions
    await sessions.start()
    transport = httpx.ASGITransport(simulator.app, raise_app_exceptions=False)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://simulator") as http:
            yield Talk(simulator, http)
    finally:
        await sessions.stop()
