"""From an application to a server: a listening socket, the line that gives its address, uvicorn."""

import errno
import socket
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from halogen_reference.settings import SettingError


def listen(host: str, port: int) -> socket.socket:
    """A listening socket: clients may connect from here on and are answered once uvicorn runs.
    Raises SettingError."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(2048)
    except OSError as error:
        listener.close()
        port_is_wrong = error.errno in (errno.EADDRINUSE, errno.EACCES)
        setting = "--port or HALOGEN_API_PORT" if port_is_wrong else "HALOGEN_API_HOST"
        raise SettingError(
            f"cannot listen on {host}:{port} ({error.strerror}): choose another {setting}"
        ) from None
    return listener


def serve(app: ASGIApp, listener: socket.socket, name: str) -> None:
    """Print what answers where, and answer until told to stop. Closes the socket.

    Returns after an interrupt (Ctrl-C); any other signal ends the process as it always does."""
    host, port = listener.getsockname()
    # uvicorn ends in good order and then raises the interrupt, for whoever called it: nobody here.
    with listener, suppress(KeyboardInterrupt):
        print(f"{name} on http://{host}:{port}", flush=True)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=5, ws="none"
        )
        uvicorn.Server(config).run(sockets=[listener])
