"""One HTTP/1.1 exchange over one connection, under deadlines, never hanging.

Written on h11 and plain sockets because the suite must do what HTTP libraries protect their
users from: send any header byte, hang up at a chosen moment, and bound the whole exchange in
time even when a server sends one byte now and then for ever.
"""

import re
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from halogen_conformance.drivers.exchange import Ending

_READ = 65536
_HTTP = b"HTTP/"
# Names, also international ones, and addresses; whatever else stands there is a slip of the hand.
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(%[\w.-]+)?")


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines in seconds, and the most bytes a body may have."""

    connect_s: float = 5.0
    idle_s: float = 45.0
    """Longest silence of the server. Without a stream that is the time of the whole reply."""
    total_s: float = 120.0
    """For the whole exchange."""
    max_bytes: int = 64 * 1024 * 1024

    def slower(self, by_s: float) -> "Limits":
        """For a target that answers ``by_s`` seconds late."""
        return Limits(
            self.connect_s + by_s, self.idle_s + by_s, self.total_s + by_s, self.max_bytes
        )


class Broken(Exception):
    """The exchange ended early; ``ending`` says how and the text says why, in one line."""

    def __init__(self, ending: Ending, line: str) -> None:
        super().__init__(line)
        self.ending = ending


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a server is: scheme, host and port, and a path prefix without trailing slash."""

    scheme: str
    host: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, url: str) -> "Origin":
        """Raises ValueError, in words for a user, for anything but a plain http(s) URL."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host = parts.hostname or ""
        if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
            raise ValueError(f"{url!r} is not an http:// or https:// address")
        if parts.username or parts.query or parts.fragment:
            raise ValueError(f"{url!r} must have no user name, query or fragment")
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            raise ValueError(f"{url!r} has no usable port") from None
        return cls(parts.scheme, host, port, parts.path.rstrip("/"))

    @property
    def netloc(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.prefix}"


RawHeaders = list[tuple[str, bytes]]


def wire_bytes(method: str, target: str, headers: RawHeaders, body: bytes) -> bytes:
    """A request as bytes. Header values go out as they are.

    Raises ValueError for what would break the framing itself: CR or LF in any part.
    """
    head = [f"{method} {target} HTTP/1.1".encode()]
    head += [name.encode() + b": " + value for name, value in headers]
    if any(b"\r" in line or b"\n" in line for line in head):
        raise ValueError("a header must not hold CR or LF")
    return b"\r\n".join([*head, b"", body])


class Connection:
    """A connection for one exchange. Use as a context manager: leaving it hangs up."""

    def __init__(self, origin: Origin, limits: Limits, give_up_at: float | None = None) -> None:
        self._limits = limits
        self._deadline = time.monotonic() + limits.total_s
        self._leave_at = give_up_at
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=1024 * 1024)
        self._eof = False
        self._first = b""
        self._socket = self._connect(origin)

    def _connect(self, origin: Origin) -> socket.socket:
        plain: socket.socket | None = None
        try:
            plain = socket.create_connection(
                (origin.host, origin.port), timeout=self._limits.connect_s
            )
            if origin.scheme == "https":
                context = ssl.create_default_context()
                return context.wrap_socket(plain, server_hostname=origin.host)
            # Small writes of a test must not wait for each other's acknowledgement.
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return plain
        except (OSError, UnicodeError) as error:
            if plain is not None:
                plain.close()
            line = f"cannot connect to {origin.netloc}: {error}"
            raise Broken(Ending.UNREACHABLE, line) from None

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, method: str, target: str, headers: RawHeaders, body: bytes) -> None:
        """Send the request. A server that answers before it has read everything is fine."""
        data = wire_bytes(method, target, headers, body)
        # h11 learns of a tame twin of the request (it needs the method to frame the answer);
        # the bytes that go out are ours, so that no header value is refused on our side.
        self._http.send(h11.Request(method=method, target="/", headers=[("host", "target")]))
        self._http.send(h11.EndOfMessage())
        try:
            self._socket.settimeout(max(0.01, self._remaining()))
            self._socket.sendall(data)
        except TimeoutError:
            raise Broken(Ending.OVERDUE, "the server did not read the request in time") from None
        except OSError:
            pass  # hung up on us: its answer, if any, is still to be read

    def receive(self) -> Iterator[h11.Response | h11.Data]:
        """The final response head, then its data. Raises Broken when it does not end well."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                raise self._broken_protocol(error) from None
            if event is h11.NEED_DATA:
                self._read()
            elif isinstance(event, h11.Response | h11.Data):
                yield event
            elif isinstance(event, h11.EndOfMessage):
                return
            elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                raise Broken(Ending.DIED, "the server hung up without an answer")

    def _read(self) -> None:
        now = time.monotonic()
        idle = self._limits.idle_s
        wait = min(idle, self._remaining(), (self._leave_at or now + idle) - now)
        try:
            self._socket.settimeout(max(0.001, wait))
            data = self._socket.recv(_READ)
        except TimeoutError:
            raise self._too_late() from None
        except OSError as error:
            # A reset is an early end of the answer like any other.
            raise Broken(Ending.DIED, f"the connection was cut: {error}") from None
        if self._remaining() <= 0 or self._must_leave():
            raise self._too_late()
        self._eof = not data
        if len(self._first) < len(_HTTP):
            self._first += data[: len(_HTTP)]
            # Told at once, or the parser would wait for the end of a line that never comes.
            if self._first[: len(_HTTP)] != _HTTP[: len(self._first)]:
                shown = data[:60].decode("utf-8", "replace")
                raise Broken(Ending.GARBAGE, f"the answer is not HTTP: it begins {shown!r}")
        try:
            self._http.receive_data(data)
        except h11.RemoteProtocolError as error:
            raise self._broken_protocol(error) from None

    def _must_leave(self) -> bool:
        return self._leave_at is not None and time.monotonic() >= self._leave_at

    def _remaining(self) -> float:
        return self._deadline - time.monotonic()

    def _too_late(self) -> Broken:
        if self._must_leave():
            return Broken(Ending.LEFT, "")
        if self._remaining() <= 0:
            line = f"the answer was not complete after {self._limits.total_s:g} s"
            return Broken(Ending.OVERDUE, line)
        return Broken(Ending.IDLE, f"nothing arrived for {self._limits.idle_s:g} s")

    def _broken_protocol(self, error: h11.RemoteProtocolError) -> Broken:
        # The parser has one exception for bad bytes and for an end that comes too early.
        if self._eof:
            return Broken(Ending.DIED, f"the answer was cut off: {error}")
        return Broken(Ending.GARBAGE, f"the answer is not HTTP: {error}")
