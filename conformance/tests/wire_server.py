"""A server on a real socket that does what a test's script says, byte by byte."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Wire:
    """The server's side of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        connection.settimeout(60)
        self.request = b""
        while b"\r\n\r\n" not in self.request:
            piece = connection.recv(65536)
            if not piece:
                return
            self.request += piece

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._connection.sendall(piece)

    def wait_for_hang_up(self) -> None:
        with suppress(ConnectionError):
            while self._connection.recv(65536):
                pass

    def drip(self, piece: bytes, pause_s: float) -> None:
        """Send a piece now and then until the client has gone."""
        with suppress(OSError):
            while True:
                self._connection.sendall(piece)
                time.sleep(pause_s)


Script = Callable[[Wire], None]


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """A server that runs the script on each connection; yields its URL."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            script(Wire(connection))

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threads.append(threading.Thread(target=handle, args=(connection,)))
                threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(10)
        for thread in threads:
            thread.join(15)


def answer(body: bytes, head: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return b"%s\r\ncontent-length: %d\r\n\r\n%s" % (head, len(body), body)


def events(*data: str) -> bytes:
    return "".join(f"data: {one}\n\n" for one in data).encode()
