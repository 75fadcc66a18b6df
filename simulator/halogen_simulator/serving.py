"""A listening socket, the line that gives its address, and uvicorn."""

import socket
import sys

import uvicorn
from starlette.types import ASGIApp


def serve(app: ASGIApp, host: str, port: int) -> int:
    """Serve until told to stop. Returns the exit code: 2 when the port cannot be had."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            print(
                f"halogen-simulator: cannot listen on {host}:{port} ({error.strerror}): "
                "choose another --port or HALOGEN_API_PORT",
                file=sys.stderr,
            )
            return 2
        # Clients that read the line may connect at once: the socket takes them in from here.
        listener.listen(2048)
        address = f"http://{host}:{listener.getsockname()[1]}"
        print(f"halogen-simulator: on {address}", flush=True)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=5,
            ws="none",
        )
        uvicorn.Server(config).run(sockets=[listener])
    return 0
