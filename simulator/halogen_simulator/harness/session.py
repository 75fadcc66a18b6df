"""A session that is being used: its transcript, its file, and the name its state is kept under."""

from dataclasses import dataclass, field

from halogen_conformance.drivers.reply import Reply
from halogen_conformance.drivers.reply import Usage as DriverUsage
from halogen_simulator.harness.journal import Journal
from halogen_simulator.harness.record import Message, Text, ToolResult, ToolUse, Usage
from halogen_simulator.harness.store import Store
from halogen_simulator.harness.tools import Output
from halogen_simulator.harness.transcript import Transcript


@dataclass(slots=True)
class Tally:
    """What the requests of a session cost, in this run of the harness."""

    evaluated: int = 0
    reused: int = 0
    requests: int = 0

    def add(self, usage: DriverUsage | None) -> None:
        self.requests += 1
        self.evaluated += usage.cost if usage else 0
        self.reused += usage.cached if usage else 0


@dataclass(slots=True)
class Session:
    """One session of the agent program: its transcript and file, and where its state is kept."""

    transcript: Transcript
    journal: Journal
    kept: str | None = None
    """The name to start the next request from: of this session, or of the parent until a fork has
    made its first request. None: nothing is kept yet."""
    generation: int = 0
    """Grows when somebody forks: see :meth:`fork`."""
    tally: Tally = field(default_factory=Tally)

    @property
    def session_id(self) -> str:
        return self.transcript.session_id

    @property
    def name(self) -> str:
        """What the next reply is kept under."""
        return state_name(self.session_id, self.generation)

    @property
    def title(self) -> str:
        """What people call it: its branch, else its id."""
        fork = self.transcript.fork
        return (fork.branch_name if fork else None) or self.session_id

    def add(self, message: Message) -> None:
        """Add a message and write it down. Raises OSError."""
        self.transcript.add(message)
        self.journal.append(self.transcript, message)

    def fork(self, store: Store, branch_name: str | None = None) -> "Session":
        """A session that goes on from here by itself. Its first request starts from the state
        this session has now, so this session keeps its next one under another name: the fork may
        come to it late. Raises OSError."""
        transcript = self.transcript.forked(branch_name)
        journal = store.journal(transcript.session_id)
        journal.write(transcript)
        if self.kept == self.name:
            self.generation += 1
        return Session(transcript, journal, self.kept)

    def compact(self, summary: str, removed: int) -> None:
        """Put a summary in the place of the first ``removed`` messages, here and in the file.
        Raises OSError, TranscriptError."""
        self.transcript = self.journal.rewrite(lambda found: found.compact(summary, removed))

    def take_up(self, live: list[str] | None) -> None:
        """After a restart of the harness: choose the state to start from among the server's live
        names, or guess it when the server does not list them."""
        fork = self.transcript.fork
        for session_id in (self.session_id, fork.parent_session_id if fork else None):
            if session_id is None:
                continue
            own = [(state_generation(session_id, name), name) for name in live or ()]
            found = [pair for pair in own if pair[0] is not None]
            if found:
                newest, self.kept = max(found, key=lambda pair: pair[0] or 0)
                if session_id == self.session_id:
                    self.generation = newest or 0
                return
        self.kept = self.name if self.transcript.messages else None


def state_name(session_id: str, generation: int) -> str:
    """What a generation of the session's state is kept under; the first, 0, under the id itself."""
    return f"{session_id}.{generation}" if generation else session_id


def state_generation(session_id: str, name: str) -> int | None:
    """The generation if the name is one of the session's, else None."""
    if name == session_id:
        return 0
    number = name.removeprefix(f"{session_id}.")
    return int(number) if number != name and number.isdecimal() else None


def said_by_user(text: str) -> Message:
    """A turn of the person, as a message."""
    return Message(role="user", blocks=(Text(text=text),))


def said_by_model(reply: Reply) -> Message:
    """A reply as a message, tool calls in their order. The routes tell what was evaluated and
    what was reused, not what was written to a cache."""
    calls = [ToolUse(id=call.id, name=call.name, input=call.arguments) for call in reply.calls]
    text = [Text(text=reply.text)] if reply.text else []
    counted = reply.usage
    usage = (
        Usage(
            input_tokens=max(0, counted.cost),
            output_tokens=counted.output,
            cache_read_input_tokens=counted.cached,
        )
        if counted
        else None
    )
    return Message(role="assistant", blocks=(*text, *calls), usage=usage)


def said_by_tool(call_id: str, tool_name: str, output: Output) -> Message:
    """A tool's output, as the message that answers its call."""
    result = ToolResult(
        tool_use_id=call_id, tool_name=tool_name, output=output.text, is_error=output.is_error
    )
    return Message(role="tool", blocks=(result,))
