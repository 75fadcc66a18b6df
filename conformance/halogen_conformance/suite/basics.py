"""What most tests build on, asked once of each server: where it fails, they are blocked by it.

Without these a server that gets one thing wrong would fail every row; with them it fails the row
that is about that thing, and the report says what the others waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Assistant, Conversation, System, User
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import Blocked, Miss, arranged
from halogen_conformance.suite.cost import expect_only_new
from halogen_conformance.suite.kept import (
    SHORT,
    Kept,
    arranged_used,
    fresh,
    keep,
    long_history,
    unique_word,
)
from halogen_conformance.suite.twin import arranged_twin, ask_twin
from halogen_conformance.target.settings import Declared

_shown: dict[tuple[str, str, str, bool], str] = {}
"""What has been asked: what, and by which server (its address), route and way of answering; with
why it did not come about. A server that fails at the plainest is not asked two hundred times."""


class _Plain:
    """The plainest requests there are, on one route and in one way of answering."""

    def __init__(self, client: Client, driver: Driver, options: Options) -> None:
        self.client, self.driver = client, driver
        self.options = replace(SHORT, stream=options.stream)

    def name(self) -> str:
        return f"plain-{unique_word()}"

    def keep(self, history: Conversation, name: str, start: str | None = None) -> Kept:
        return keep(self.client, self.driver, history, self.options, name, start=start)

    def used(self, kept: Kept, what: str) -> None:
        history = kept.then("And another one?")
        answer = self.client.ask(self.driver, history, self.options, start=kept.name)
        arranged_used(answer, what)

    def not_used(self, history: Conversation, name: str, what: str) -> None:
        answer = self.client.ask(self.driver, history, self.options, start=name)
        arranged(answer.ok and answer.outcome != "used", f"{what} is used: {answer.story}")


def _once(
    what: str, client: Client, driver: Driver, options: Options, show: Callable[[_Plain], None]
) -> None:
    key = (what, client.url, driver.route, options.stream)
    if key not in _shown:
        try:
            show(_Plain(client, driver, options))
        except Blocked as blocked:
            _shown[key] = str(blocked)
            raise
        _shown[key] = ""
    arranged(not _shown[key], _shown[key])


def arranged_fork(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless the plainest start from a kept name is used (KEEP-1, FROM-2)."""

    def show(plain: _Plain) -> None:
        name = plain.name()
        plain.used(plain.keep(fresh(name), name), "the plainest kept history")

    _once("fork", client, driver, options, show)


def arranged_forks(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless a kept name can be started from twice (FROM-3)."""

    def show(plain: _Plain) -> None:
        name = plain.name()
        kept = plain.keep(fresh(name), name)
        plain.used(kept, "the plainest kept history")
        plain.used(kept, "a kept history that was used before")

    _once("forks", client, driver, options, show)


def arranged_rekeep(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless keeping under a live name replaces its state (KEEP-3)."""
    arranged_forks(client, driver, options)

    def show(plain: _Plain) -> None:
        name = plain.name()
        plain.keep(fresh(f"{name}-old"), name)
        plain.used(plain.keep(fresh(f"{name}-new"), name), "what was kept under a live name")
        handles = plain.client.names()
        names = (handles.names if handles else None) or []
        arranged(sum(name in one for one in names) <= 1, f"{name} is listed more than once")

    _once("rekeep", client, driver, options, show)


def arranged_join(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless a start that is kept under another name is there, and so is what it started
    from (JOIN-1)."""
    arranged_forks(client, driver, options)

    def show(plain: _Plain) -> None:
        first, second = plain.name(), plain.name()
        kept = plain.keep(fresh(first), first)
        joined = plain.keep(kept.then("Go on."), second, start=first)
        plain.used(joined, "what was kept from another name")
        plain.used(kept, "a name from which another was kept")

    _once("join", client, driver, options, show)


def arranged_move(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless From and Keep of one name move it forward (JOIN-2)."""
    arranged_rekeep(client, driver, options)

    def show(plain: _Plain) -> None:
        name = plain.name()
        kept = plain.keep(fresh(name), name)
        plain.used(plain.keep(kept.then("Go on."), name, start=name), "a name moved forward")
        plain.not_used(kept.then("And on?"), name, "what a name held before it moved forward")

    _once("move", client, driver, options, show)


def arranged_difference(client: Client, driver: Driver) -> None:
    """Blocked unless a history that is not the kept one is told from it (FROM-4)."""
    arranged_forks(client, driver)

    def show(plain: _Plain) -> None:
        name, question = plain.name(), User("And another one?")
        kept = plain.keep(fresh(name).assistant("Red.").user("One more."), name)
        edits = {
            "another conversation": fresh(plain.name()),
            "another system text": kept.history.swap(0, System("Answer at length.")),
            "another question": kept.history.swap(1, User("Name one animal.")),
            "another earlier reply": kept.history.swap(2, Assistant("Blue.")),
            "another reply": kept.history.swap(4, Assistant("Something else.")),
            "a shorter history": kept.history.cut(2),
        }
        for what, history in edits.items():
            plain.not_used(history.plus(question), name, what)
        plain.used(kept, "a kept history after others were asked from its name")

    _once("difference", client, driver, SHORT, show)


def arranged_unknown(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless a name that nobody ever kept is unknown (FROM-5): only then does the word
    prove that another name was not kept either."""

    def show(plain: _Plain) -> None:
        name = plain.name()
        answer = plain.client.ask(plain.driver, fresh(name), plain.options, start=name)
        arranged(answer.outcome == "unknown", f"a name never kept is not unknown: {answer.story}")

    _once("unknown", client, driver, options, show)


def arranged_twins(
    client: Client, driver: Driver, declared: Declared, options: Options = SHORT, *, forks: int = 2
) -> None:
    """Blocked unless the plainest used starts have their twins' answers (FROM-6): only then does
    a difference elsewhere mean what a test takes it for. With one fork none has a sibling yet."""
    arranged_fork(client, driver, options)

    def show(plain: _Plain) -> None:
        name = plain.name()
        kept = plain.keep(fresh(name), name)
        for question in ("And another one?", "And the one after that?")[:forks]:
            history = kept.then(question)
            answer = plain.client.ask(plain.driver, history, plain.options, start=name)
            twin = ask_twin(plain.client, plain.driver, history, plain.options)
            arranged_twin(answer, twin, declared, "a plain used start")

    _once(f"twins of {forks}", client, driver, options, show)


def arranged_listed(client: Client) -> None:
    """Blocked unless the list names what was kept last (LIST-1): only then does a name that is
    missing there mean anything."""

    def show(plain: _Plain) -> None:
        name = plain.name()
        plain.keep(fresh(name), name)
        handles = plain.client.names()
        arranged(handles is not None and handles.has(name), "the list does not name what is kept")

    _once("listed", client, CHAT, SHORT, show)


def arranged_cheap(client: Client, driver: Driver, options: Options = SHORT) -> None:
    """Blocked unless the plainest used start costs its new text alone (FROM-7)."""
    arranged_fork(client, driver, options)

    def show(plain: _Plain) -> None:
        name = plain.name()
        kept = plain.keep(long_history(name), name)
        answer = plain.client.ask(plain.driver, kept.then("Go on."), plain.options, start=name)
        try:
            expect_only_new(answer, kept)
        except Miss as miss:
            raise Blocked(f"a plain used start is not cheap: {miss}") from None

    _once("cheap", client, driver, options, show)
