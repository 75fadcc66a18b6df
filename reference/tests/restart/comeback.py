"""A server that is started, stopped and killed on one cache folder."""

import itertools
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.protocol.client import Answer, Kept, Talk
from tests.protocol.routes import ROUTES, Turn
from tests.protocol.server import ENGINES, EXACT, LIGHT, Server, clean_environment
from tests.protocol.waiting import eventually

SYSTEM = "You answer in one short sentence, whatever is asked of you. " * 3
_numbers = itertools.count()


class Comeback:
    """One server after another with the same settings and the same folder."""

    def __init__(self, engine: str, folder: Path, settings: dict[str, str]) -> None:
        self.folder, self.settings = folder, {"HALOGEN_FORK": "1", **settings}
        self.command, self._exact = [*ENGINES[engine]], engine in EXACT
        self._server: Server | None = None

    def start(self, **changed: str) -> Talk:
        """Start it, with some settings changed; a client of it. What ran before must have ended."""
        log = self.folder / f"server-{next(_numbers)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                self.command,
                env=clean_environment({**LIGHT, **self.settings, **changed}),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        self._server = Server(process, log, exact=self._exact)
        return Talk(self._server, ROUTES["chat"], stream=False)

    @property
    def server(self) -> Server:
        assert self._server is not None, "it was never started"
        return self._server

    def stop(self) -> None:
        """Ask it to stop, and wait until it has."""
        self.server.process.terminate()
        self._gone()
        assert "Traceback" not in self.server.log(), self.server.log()

    def kill(self) -> None:
        """End it as a crash would: at once, nothing written any more."""
        self.server.process.send_signal(signal.SIGKILL)
        self._gone()

    def _gone(self) -> None:
        self.server.process.wait(30)
        self.server.http.close()

    def end(self) -> None:
        if self._server is not None and self._server.process.poll() is None:
            self.kill()

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.kept"))

    def written(self, *names: str) -> None:
        """Wait until these names are on disk."""

        def all_there() -> bool:
            live = self.server.handles()
            return all(live[name]["on_disk"] for name in names)

        eventually(all_there, f"{names} on disk")


def keep(talk: Talk, name: str, question: str, **extra: Any) -> Kept:
    """Keep a short conversation under a name."""
    history: tuple[Turn, ...] = (("system", SYSTEM), ("user", question))
    answer = talk.ask(history, keep=name, **extra)
    assert answer.keep == "accepted"
    return Kept(name, history, answer)


def goes_on(talk: Talk, kept: Kept) -> Answer:
    """Start from a kept conversation: used, cheap, and what a server without it would say."""
    history = kept.then("And then?")
    answer = talk.ask(history, start=kept.name)
    assert answer.outcome == "used"
    twin = talk.ask(history)
    assert answer.text == twin.text
    assert answer.good.prompt == twin.good.prompt
    assert answer.cost < twin.cost / 2
    return answer


def is_lost(talk: Talk, kept: Kept) -> None:
    """A conversation that must not be used any more: answered as usual, and not listed."""
    history = kept.then("And then?")
    answer = talk.ask(history, start=kept.name)
    assert answer.outcome == "unknown"
    assert kept.name not in talk.server.handles()
    assert answer.text == talk.ask(history).text
