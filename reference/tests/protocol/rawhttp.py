"""HTTP by hand: for requests no client library would send, and for clients that hang up."""

import json
import socket
import struct
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from tests.protocol.routes import Json, Reply, Route
from tests.protocol.server import Server


def request(path: str, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    """A POST as bytes; nothing is checked."""
    fixed = [
        (b"host", b"127.0.0.1"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in [*fixed, *headers])
    return b"POST " + path.encode() + b" HTTP/1.1\r\n" + lines + b"\r\n" + body


def exchange(server: Server, sent: bytes) -> tuple[int, dict[str, list[str]], bytes]:
    """Send bytes, and read the answer's status, headers and body until the server closes.

    A server may refuse while it is still being sent to; what it said before counts. Status 0: it
    closed without a word.
    """
    received = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(sent)
            while chunk := connection.recv(1 << 16):
                received += chunk
        except (ConnectionResetError, BrokenPipeError):
            pass
    return parse(received)


def parse(received: bytes) -> tuple[int, dict[str, list[str]], bytes]:
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), []).append(value.strip())
    return int(status.split()[1]) if status else 0, headers, body


class Stream:
    """A streaming request read event by event; leaving the block hangs up at once."""

    def __init__(
        self,
        server: Server,
        route: Route,
        body: Json,
        *,
        start: str | None = None,
        keep: str | None = None,
    ) -> None:
        self._route = route
        wanted = {"x-halogen-from": start, "x-halogen-keep": keep}
        self._client = server.http.build_request(
            "POST",
            route.path,
            json=body,
            headers={name: value for name, value in wanted.items() if value is not None},
        )
        self._server = server
        self._events: list[Json] = []

    def __enter__(self) -> "Stream":
        self._response = self._server.http.send(self._client, stream=True)
        assert self._response.status_code == 200
        self.headers = self._response.headers
        self._lines = self._response.iter_lines()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._response.close()

    def event(self) -> Json | None:
        """The next event; None at the end."""
        for line in self._lines:
            if line.startswith("data: ") and line != "data: [DONE]":
                event: Json = json.loads(line.removeprefix("data: "))
                self._events.append(event)
                return event
        return None

    def rest(self) -> Reply:
        """Read to the end: the whole reply."""
        while self.event():
            pass
        return self._route.streamed(self._events)


def hang_up(
    server: Server,
    route: Route,
    body: Json,
    headers: Iterable[tuple[bytes, bytes]] = (),
    *,
    after: bytes = b"",
    times: int = 0,
) -> None:
    """Send a request and reset the connection: at once, or when ``after`` has come ``times``."""
    data: Any = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    # A reset, not a polite end: what a client that was killed leaves behind.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with connection:
        connection.sendall(request(route.path, data, headers))
        received = b""
        while received.count(after) < times if times else False:
            chunk = connection.recv(4096)
            assert chunk, "the reply ended before the client could hang up"
            received += chunk
