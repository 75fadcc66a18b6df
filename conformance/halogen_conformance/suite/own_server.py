"""Servers of a test's own, for what no shared server can stand: stops, kills, damaged files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.connection import Limits
from halogen_conformance.outcomes import NotOffered, expect
from halogen_conformance.recorder import Recorder
from halogen_conformance.target import CommandTarget, Server, Settings, Target, TargetError
from halogen_conformance.target.settings import Declared


@dataclass(frozen=True, slots=True)
class OwnServers:
    """Starts servers for one test, and makes clients of them."""

    target: Target
    declared: Declared
    recorder: Recorder

    @contextmanager
    def started(
        self, settings: Settings, *, extra_env: Mapping[str, str] | None = None
    ) -> Iterator[Server]:
        """A server with these settings, stopped when the test is done with it.

        Raises NotOffered for a target that the suite has not started itself, TargetError.
        """
        if not isinstance(self.target, CommandTarget):
            raise NotOffered("needs a server the suite starts itself: give a command after --")
        server = self.target.server(settings, extra_env=extra_env)
        server.start()
        try:
            yield server
        finally:
            server.stop()

    def client(self, server: Server) -> Client:
        """A client of the server as it runs now: after a restart it has another address."""
        return Client(
            server.base_url,
            key=server.key,
            limits=Limits().slower(self.declared.slow_s),
            recorder=self.recorder,
            model=self.declared.model,
        )


def start_again(server: Server) -> None:
    """Start a server whose files are not as it left them. That it does is the test's question.

    Raises Miss.
    """
    try:
        server.start()
    except TargetError as error:
        expect(False, expected="a server that starts again", actual=f"{error} {error.log[-300:]}")
