"""Where tables and trees are printed."""

from typing import NoReturn

from rich.console import Console


class Terminal(Console):
    """A console whose reader may leave (`fleet run | head`): that ends the program as it ends any.

    Rich would end it with exit code 1, which here means that something did not come out right.
    """

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError
