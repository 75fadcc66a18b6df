"""A branch: a request whose last turn is the beginning of a kept reply."""

from __future__ import annotations

from dataclasses import dataclass, replace

from halogen_conformance.drivers import Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import arranged, expect, expect_equal
from halogen_conformance.suite.kept import Kept, arranged_used, beginning, keep_long, said

REPLY = Options(max_tokens=16)
"""Long enough to branch in."""


@dataclass(frozen=True, slots=True)
class Branch:
    """``part`` is a beginning of the kept reply, cut behind a word."""

    kept: Kept
    part: str

    @property
    def history(self) -> Conversation:
        return self.kept.before.branch(self.part)


def branches(
    client: Client, driver: Driver, name: str, options: Options = REPLY, *, long: bool = False
) -> list[Branch]:
    """Two branches of one kept reply, an early one and a late one; or one, if both are the same.
    Blocked when no reply is long enough."""
    kept = keep_long(client, driver, name, replace(options, max_tokens=16), long=long)
    parts = dict.fromkeys(beginning(kept.reply, share) for share in (0.35, 0.75))
    return [Branch(kept, part) for part in parts]


def expect_goes_on(answer: Answer, branch: Branch, what: str = "the branch") -> None:
    """Used, and the answer does not begin with the words that were sent."""
    expect(answer.ok, expected=f"an answer to {what}", actual=answer.story)
    expect_equal(f"X-Halogen-From for {what}", said(answer), "used")
    expect_not_repeated(answer, branch)


def repeats(answer: Answer, branch: Branch) -> bool:
    """The reply begins with the words that were sent instead of going on after them. Only long
    beginnings are looked at: a short one may well be said twice."""
    part = branch.part.strip()
    return len(part) >= 8 and answer.reply.text.strip().startswith(part)


def expect_not_repeated(answer: Answer, branch: Branch) -> None:
    """The reply is the continuation alone."""
    expect(
        not repeats(answer, branch),
        expected=f"a reply that goes on after {branch.part!r}",
        actual=repr(answer.reply.text),
    )


def arranged_goes_on(answer: Answer, branch: Branch) -> None:
    """Blocked unless a true beginning is used and continued: the route's own row is about that."""
    arranged_used(answer, "a true beginning")
    arranged(not repeats(answer, branch), f"a true beginning is repeated: {answer.reply.text!r}")
