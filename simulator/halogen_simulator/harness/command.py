"""The commands of a script or of the prompt: what a line says is to be done."""

from dataclasses import dataclass


class CommandError(Exception):
    """A line that is no command; the message says what there is instead."""


@dataclass(frozen=True, slots=True)
class Say:
    """Anything that is no command is said to the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Do:
    """A line that is a command."""

    action: str
    """A key of :data:`ACTIONS`."""
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One command: what ``help`` says of it, and what it takes."""

    about: str
    takes: str = ""
    """What stands after it; in brackets when it may be left out."""

    @property
    def needs(self) -> bool:
        return bool(self.takes) and not self.takes.startswith("[")


ACTIONS = {
    "session list": Action("the sessions of the folder, and where each comes from"),
    "session switch": Action("go on with another session; - is the one before", "ID"),
    "session fork": Action("go on in a copy that starts from this one's state", "[NAME]"),
    "compact": Action("put a summary in the place of the history"),
    "status": Action("this session, its file, its state, what it cost"),
    "export": Action("write this session to a file: .jsonl, or text", "FILE"),
    "tree": Action("the forks, with what each saved"),
    "expect": Action("fail unless the last turn's outcome is this", "OUTCOME"),
    "help": Action("these lines"),
    "quit": Action("the end"),
}
"""What can be done, in the order in which it is listed."""


def parse(line: str) -> Say | Do | None:
    """What a line asks for; None for an empty line or a comment. Raises CommandError.

    ``//`` at the beginning says a text that begins with a slash.
    """
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    if text.startswith("//"):
        return Say(text[1:])
    if not text.startswith("/"):
        return Say(text)
    words = text[1:].split()
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in ACTIONS:
            return _do(name, text[1:], length)
    if words[:1] == ["session"]:
        raise CommandError("/session takes list, switch ID or fork [NAME]")
    raise CommandError(f"there is no command {text.split()[0]}; /help lists them")


def _do(name: str, text: str, words: int) -> Do:
    argument = (text.split(maxsplit=words)[words:] or [""])[0].strip()
    action = ACTIONS[name]
    if action.needs and not argument:
        raise CommandError(f"/{name} needs {action.takes}")
    if argument and not action.takes:
        raise CommandError(f"/{name} takes nothing after it")
    return Do(name, argument)


def listed() -> str:
    """The commands as lines for people."""
    rows = [(f"/{name} {action.takes}".strip(), action.about) for name, action in ACTIONS.items()]
    return "\n".join(f"  {usage:<22} {about}" for usage, about in rows)
