"""The harness in use: lines in, from a script or a person; what came of each out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TextIO

from halogen_simulator.harness.command import CommandError, Do, Say, listed, parse
from halogen_simulator.harness.export import export
from halogen_simulator.harness.journal import Journal
from halogen_simulator.harness.lineage import Knot, family, knots
from halogen_simulator.harness.program import Cost, NoServer, Program, Round, TurnFailed
from halogen_simulator.harness.session import Session
from halogen_simulator.harness.store import Listed, Store
from halogen_simulator.harness.transcript import Loaded, Transcript, TranscriptError


@dataclass(slots=True)
class Shell:
    """Does what a person's or a script's lines say, with the sessions of one folder."""

    program: Program
    store: Store
    out: TextIO
    echo: bool = False
    """Show what is said, as somebody reading a script's output wants it."""
    failures: int = 0
    """Turns that were not answered, commands that could not be done, expectations not met."""
    no_server: bool = False
    """Nobody was there to answer what was said last."""
    _open: dict[str, Session] = field(default_factory=dict)
    """Sessions used in this run, by id."""
    _resumed: dict[str, Knot] = field(default_factory=dict)
    """What sessions of earlier runs had cost when they were taken up."""
    _here: str = ""
    _before: str = ""
    _last: list[Round] = field(default_factory=list)
    _over: bool = False

    @property
    def session(self) -> Session:
        return self._open[self._here]

    def begin(self, resume: str | None = None) -> None:
        """Begin a new session, or take up one by its file or id. Raises TranscriptError."""
        if resume is not None:
            self._take_up(resume)
            return
        transcript = Transcript.new()
        self._enter(Session(transcript, self.store.journal(transcript.session_id)))

    def run(self, lines: Iterable[str]) -> None:
        """Do what each line says, up to the end or ``/quit``. A script ends where no server
        answers; a person may start it and say the same again."""
        for line in lines:
            self.do(line)
            if self._over or (self.no_server and self.echo):
                return

    def do(self, line: str) -> None:
        """One line. What goes wrong is printed and counted; the next line is done all the same."""
        try:
            asked = parse(line)
            if isinstance(asked, Say):
                self._say(asked.text)
            elif isinstance(asked, Do):
                if self.echo:
                    self._print(f"> {line.strip()}")
                _ACTIONS[asked.action](self, asked.argument)
        except (CommandError, TurnFailed, TranscriptError, OSError) as error:
            self.failures += 1
            self.no_server = isinstance(error, NoServer)
            self._print(f"! {error}")

    def knots(self) -> list[Knot]:
        """The sessions of this run with all they come from and all that comes from them."""
        return family([self._counted(knot) for knot in knots(self._sessions())], self._open)

    def _sessions(self) -> list[Listed]:
        """Those of the folder, and those resumed from files that lie elsewhere."""
        found = self.store.list()
        known = {one.session_id for one in found}
        return found + [
            Listed(session.journal.path, 0.0, session.transcript)
            for session in self._open.values()
            if session.session_id not in known and session.transcript.messages
        ]

    def _counted(self, knot: Knot) -> Knot:
        """A session of this run is counted by its requests; one that was resumed had some before,
        which its transcript told."""
        session = self._open.get(knot.key)
        if session is None:
            return knot
        before, tally = self._resumed.get(knot.key), session.tally
        return replace(
            knot,
            evaluated=tally.evaluated + (before.evaluated if before else 0),
            reused=tally.reused + (before.reused if before else 0),
            requests=tally.requests + (before.requests if before else 0),
        )

    def _say(self, text: str) -> None:
        if self.echo:
            self._print(f"> {text}")
        self._last = []
        self._last = self.program.turn(self.session, text, self._show)

    def _show(self, shown: Round) -> None:
        if shown.text:
            self._print(shown.text)
        for call, output in shown.results:
            wrong = " (error)" if output.is_error else ""
            self._print(f"  {call.name} {call.arguments} ->{wrong} {_brief(output.text)}")
        self._print(f"  [{told(shown.cost)}]")

    def _list(self, _: str) -> None:
        for listed_session in self.store.list():
            here = "*" if listed_session.session_id == self._here else " "
            if listed_session.transcript is None:
                self._print(f"{here} {listed_session.session_id}  {listed_session.trouble}")
                continue
            fork = listed_session.transcript.fork
            lineage = ""
            if fork:
                branch = f"  branch {fork.branch_name}" if fork.branch_name else ""
                lineage = f"{branch}  from {fork.parent_session_id}"
            count = len(listed_session.transcript.messages)
            self._print(f"{here} {listed_session.session_id}  {count} messages{lineage}")

    def _switch(self, reference: str) -> None:
        if reference == "-":
            if not self._before:
                raise CommandError("there is no session before this one")
            self._enter(self._open[self._before])
        else:
            known = [one for one in self._open.values() if reference in (one.title, one.session_id)]
            if len(known) == 1:
                self._enter(known[0])
            else:
                self._take_up(reference)
        self._print(f"on session {self.session.session_id}")

    def _fork(self, name: str) -> None:
        parent = self.session
        # What a fork has from its parent must be in the parent's file as well, or nobody could
        # tell later which messages are its own.
        if not parent.journal.path.exists():
            parent.journal.write(parent.transcript)
        self._enter(parent.fork(self.store, name or None))
        title = f"{self.session.title} " if name.strip() else ""
        self._print(f"forked {title}({self.session.session_id}) from {parent.session_id}")

    def _compact(self, _: str) -> None:
        count = len(self.session.transcript.messages)
        if not count:
            raise CommandError("there is nothing to compact yet")
        summary = self.program.summarise(self.session)
        self._show(summary)
        self.session.compact(summary.text, count)
        self._last = [summary]
        left = "the next turn's history is another one: its outcome will be unmatched"
        self._print(f"compacted {count} messages into a summary; {left}")

    def _status(self, _: str) -> None:
        session, program = self.session, self.program
        transcript = session.transcript
        fork, tally = transcript.fork, session.tally
        rows = {
            "session": session.session_id,
            "from": f"{fork.parent_session_id} ({fork.branch_name or 'unnamed'})" if fork else "-",
            "file": str(session.journal.path),
            "messages": str(len(transcript.messages)),
            "compactions": str(transcript.compaction.count if transcript.compaction else 0),
            "server": f"{program.client.url} {program.driver.path}",
            "starts from": session.kept or "nothing yet",
            "keeps as": session.name,
            "this run": f"{tally.requests} requests, {tally.evaluated} prompt tokens evaluated, "
            f"{tally.reused} reused",
        }
        for name, value in rows.items():
            self._print(f"  {name:<12} {value}")

    def _export(self, file: str) -> None:
        export(self.session.transcript, Path(file))
        self._print(f"written to {file}")

    def _tree(self, _: str) -> None:
        from halogen_simulator.harness import tree  # rich is slow to import

        tree.show(tree.drawn(self.knots(), self._here), self.out)

    def _expect(self, outcome: str) -> None:
        if not self._last:
            raise CommandError(f"expected {outcome}, but there is no answered turn before it")
        found = self._last[0].cost.outcome
        if found != outcome:
            raise CommandError(f"expected {outcome}, and it was {found}")

    def _help(self, _: str) -> None:
        self._print(listed())

    def _quit(self, _: str) -> None:
        self._over = True

    def _take_up(self, reference: str) -> None:
        loaded, journal = self.store.open(reference)
        already = self._open.get(loaded.transcript.session_id)
        if already is not None:
            self._enter(already)
            return
        session = self._restored(loaded, journal)
        self._enter(session)
        before = {knot.key: knot for knot in knots(self._sessions())}
        if session.session_id in before:
            self._resumed[session.session_id] = before[session.session_id]

    def _restored(self, loaded: Loaded, journal: Journal) -> Session:
        for warning in loaded.warnings:
            self._print(f"! {warning}")
        session = Session(loaded.transcript, journal)
        names = self.program.client.names()
        session.take_up(names.names if names else None)
        count = len(loaded.transcript.messages)
        self._print(f"resumed {session.session_id} from {journal.path} ({count} messages)")
        return session

    def _enter(self, session: Session) -> None:
        self._open[session.session_id] = session
        if self._here and self._here != session.session_id:
            self._before = self._here
        self._here = session.session_id

    def _print(self, text: str) -> None:
        print(text, file=self.out, flush=True)


_ACTIONS: dict[str, Callable[[Shell, str], None]] = {
    "session list": Shell._list,
    "session switch": Shell._switch,
    "session fork": Shell._fork,
    "compact": Shell._compact,
    "status": Shell._status,
    "export": Shell._export,
    "tree": Shell._tree,
    "expect": Shell._expect,
    "help": Shell._help,
    "quit": Shell._quit,
}


def told(cost: Cost) -> str:
    """The cost of a request, for people."""
    counts = (
        "no usage"
        if cost.evaluated is None
        else f"{cost.evaluated} evaluated, {cost.reused} reused"
    )
    seconds = cost.first_token_s
    first = "" if seconds is None else f", first token after {seconds * 1000:.0f} ms"
    refused = ", not kept: the server refused the name" if cost.refused else ""
    return f"{cost.outcome}: {counts}{first}{refused}"


def _brief(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 60 else f"{one_line[:57]}..."
