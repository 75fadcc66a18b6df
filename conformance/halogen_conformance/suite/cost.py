"""Cost: the prompt tokens a server says it really evaluated (FROM-7)."""

from __future__ import annotations

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.outcomes import arranged, expect
from halogen_conformance.suite.kept import Kept

SLACK = 16
"""Tokens a server may read again at the seam: an end-of-turn mark, the block of a paged cache."""


def arranged_long(kept: Kept) -> int:
    """The size of a kept state; Blocked when it is too short for its cost to tell anything, or
    when the server counts nothing."""
    size = kept.size
    if size is None:
        arranged(False, "the answer has no usage, so its cost cannot be seen")
        raise AssertionError
    arranged(size >= 5 * SLACK, f"the kept state has only {size} tokens")
    return size


def expect_only_new(answer: Answer, kept: Kept, what: str = "the request") -> None:
    """A used answer has cost about what is new in it, and nothing of the kept part."""
    size, usage = arranged_long(kept), answer.reply.usage
    expect(usage is not None, expected="usage with the cached tokens", actual=answer.story)
    assert usage is not None
    told = usage.prompt + SLACK >= size
    arranged(told, f"a prompt of {usage.prompt} tokens repeats a state of {size}: FROM-6")
    most = max(0, usage.prompt - size) + SLACK
    expect(
        usage.cost <= most,
        expected=f"{what}: at most {most} of {usage.prompt} prompt tokens evaluated",
        actual=f"{usage.cost} evaluated, {usage.cached} cached",
    )
