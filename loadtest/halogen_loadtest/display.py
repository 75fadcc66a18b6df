"""What is seen while a run is under way: a table on a terminal, a line now and then elsewhere."""

import time
from collections import Counter

import gevent
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from halogen_loadtest.ledger import Ledger
from halogen_loadtest.percentile import percentile
from halogen_loadtest.record import Record
from halogen_loadtest.report.wording import share_of, time_of
from halogen_loadtest.run import Run

_RECENT_S = 10.0
_TERMINAL_S, _ELSEWHERE_S = 0.5, 10.0


class Display:
    """Shows a run until ``stop``. One greenlet runs ``show``."""

    def __init__(self, run: Run, out: Console) -> None:
        self._run, self._out = run, out
        self._live: Live | None = None
        self._outcomes: Counter[str] = Counter()
        self._results: Counter[str] = Counter()
        self._taken = 0
        self._over = False

    def show(self) -> None:
        """Returns after ``stop``."""
        if not self._out.is_terminal:
            while not self._over:
                gevent.sleep(_ELSEWHERE_S)
                if not self._over:
                    self._out.print(self._line(), soft_wrap=True)
            return
        # Drawn by us alone: the library's own thread would draw between two greenlets' prints.
        self._live = Live(console=self._out, auto_refresh=False, transient=True)
        self._live.start()
        while self._live is not None:
            self._live.update(self._table(), refresh=True)
            gevent.sleep(_TERMINAL_S)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self._over = True
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _count(self) -> list[Record]:
        """Take in what is new; the exchanges of the last seconds."""
        records = self._run.ledger.records
        if len(records) < self._taken:  # another run has begun
            self._taken = 0
            self._outcomes.clear()
            self._results.clear()
        for one in records[self._taken :]:
            self._results[one.result] += 1
            if one.outcome and not one.twin:
                self._outcomes[one.outcome] += 1
        self._taken = len(records)
        since = time.time() - _RECENT_S
        recent = []
        for one in reversed(records[-20_000:]):
            if one.at + one.seconds >= since and not one.twin:
                recent.append(one)
        return recent

    def _line(self) -> Text:
        recent = self._count()
        first = [one.first for one in recent if one.first is not None]
        passed = time.time() - self._run.began if self._run.began else 0.0
        broken = _broken(self._run.ledger)
        text = (
            f"{passed:4.0f} s  {sum(self._results.values()):,} exchanges  "
            f"TTFT p95 {time_of(percentile(first, 0.95))}  {_words(self._outcomes)}  "
            f"{broken:,} broken rules"
        )
        return Text(text, style="red" if broken else "")

    def _table(self) -> Group:
        recent = self._count()
        passed = time.time() - self._run.began if self._run.began else 0.0
        runner = self._run.environment.runner
        users = runner.user_count if runner is not None else 0
        ledger = self._run.ledger
        broken = _broken(ledger)
        meant = [one for one in recent if one.meant]
        used = sum(one.outcome == "used" for one in meant) / len(meant) if meant else None
        under_way = sum({one.worker: one.open for one in ledger.generators[-200:]}.values())
        head = Text.assemble(
            (f"{self._run.settings.scenario} ", "bold"),
            f"{passed:.0f} s, {users:,} users, {under_way:,} exchanges under way, ",
            f"{share_of(used)} used, ",
            (f"{broken:,} broken rules", "bold red" if broken else "green"),
        )
        table = Table(title=f"last {_RECENT_S:.0f} s", title_justify="left")
        table.add_column("step")
        for name in ("ended", "TTFT p50", "TTFT p95", "whole p95", "wrong"):
            table.add_column(name, justify="right")
        for step in sorted({one.step for one in recent}):
            rows = [one for one in recent if one.step == step]
            first = [one.first for one in rows if one.first is not None]
            wrong = sum(one.result == "wrong" for one in rows)
            table.add_row(
                step,
                f"{len(rows):,}",
                time_of(percentile(first, 0.5)),
                time_of(percentile(first, 0.95)),
                time_of(percentile([one.seconds for one in rows], 0.95)),
                Text(f"{wrong:,}", style="red" if wrong else "dim"),
            )
        return Group(head, table, Text(_words(self._outcomes), style="dim"))


def _broken(ledger: Ledger) -> int:
    return sum(count for name, count in ledger.counts.items() if name.startswith("broken "))


def _words(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count:,} {word}" for word, count in sorted(outcomes.items()))
