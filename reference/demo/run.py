"""Play the sessions example. Exit code: 0 when every outcome, cost and reply is what the protocol
says, 1 when one is not, 2 when a server cannot be run."""

import argparse
import signal
import sys
from contextlib import ExitStack

import httpx
from openai import OpenAIError
from rich.console import Console
from rich.markup import escape

from demo import brief
from demo.chat import Chat
from demo.play import play
from demo.process import REFERENCE, ServerTrouble, serve
from demo.progress import Steps, console
from demo.route import Route
from demo.story import CAP, SCENES
from demo.table import show, verdict

ROUTES: tuple[Route, ...] = (Chat(),)
"""The story is played on each of them."""

_SIZE = {"HALOGEN_CTX": "2048", "HALOGEN_KV_POOL_POSITIONS": "8192"}
_ON = {**_SIZE, "HALOGEN_FORK": "1", "HALOGEN_FORK_HANDLES": str(CAP)}
_OFF = {**_SIZE, "HALOGEN_FORK": "0"}


def main() -> int:
    parser = argparse.ArgumentParser("demo", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a shorter history: done sooner")
    task = brief.task(1) if parser.parse_args().short else brief.task()
    # Told to end, end the servers too: leave by the exit stack.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    out = console()
    try:
        return _play(out, task)
    except ServerTrouble as error:
        out.print(f"[bold red]The demo cannot run:[/] {escape(str(error))}")
        return 2
    except (OpenAIError, httpx.HTTPError) as error:
        out.print(f"[bold red]FAIL[/]  a request was not answered: {escape(str(error))}")
        return 1
    except KeyboardInterrupt:
        out.print("Interrupted; the servers are stopped.")
        return 130


def _play(out: Console, task: str) -> int:
    wrong, checked = [], 0
    results = []
    with ExitStack() as stack:
        steps = stack.enter_context(Steps(out, 1 + SCENES * len(ROUTES)))
        steps.begin("two servers start: one with sessions, one without")
        server = stack.enter_context(serve(REFERENCE, _ON))
        twin = stack.enter_context(serve(REFERENCE, _OFF))
        for route in ROUTES:
            results.append((route.name, play(route, server.url, twin.url, task, steps.begin)))
    for name, played in results:
        show(out, name, played.rows)
        wrong += played.wrong
        checked += len(played.rows)
    verdict(out, checked, wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
