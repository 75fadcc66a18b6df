"""What the commands of both servers, this one and the simulator's, have in common."""

import argparse

from halogen_reference.settings import port_number

EXIT_CODES = """\
exit codes:
  0  the server was ended by Ctrl-C
  2  usage error: a wrong option or setting, or a file or port that cannot be used
"""


def port(text: str) -> int:
    """A port of the command line, or 0 for a free one. Raises argparse.ArgumentTypeError."""
    try:
        return port_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number, 0 to 65535") from None
