"""The simulator as a server."""

import sys

from starlette.types import ASGIApp

from halogen_reference import serving
from halogen_reference.settings import SettingError


def serve(app: ASGIApp, host: str, port: int) -> int:
    """Serve until told to stop. Returns the exit code: 2 when the port cannot be had."""
    try:
        listener = serving.listen(host, port)
    except SettingError as error:
        print(f"halogen-simulator: {error}", file=sys.stderr)
        return 2
    serving.serve(app, listener, "halogen-simulator:")
    return 0
