"""MAP-7: the attribution line that Claude Code puts first in `system`."""

from __future__ import annotations

from typing import Any

from halogen_conformance.drivers.answer import Answer
from halogen_conformance.outcomes import Blocked, arranged, expect, expect_equal
from halogen_conformance.suite.claude_code import SLACK, Thread, arranged_mapping, cheap, text
from halogen_conformance.suite.marks import needs, requirement

LINE = "x-anthropic-billing-header: cc_version=2.1.332.{0}; cc_entrypoint=cli; cch={0}; more={0};"
HELLO = [{"role": "user", "content": "Hello."}]


def size(thread: Thread, messages: list[dict[str, Any]], **fields: Any) -> int:
    """Prompt tokens of a request. Raises Blocked when it is not answered or not counted."""
    answer = thread.request(messages, **fields)
    arranged(answer.ok, f"a request was not answered: {answer.story}")
    if answer.reply.usage is None:
        raise Blocked("a reply has no usage, so the size of its prompt is unknown")
    return answer.reply.usage.prompt


@requirement("MAP-7")
@needs("map")
def test_a_line_that_differs_does_not_break_the_match(main: Thread) -> None:
    arranged_mapping(main.client, lines=False)
    first = _turn(main, LINE.format("00a1b"))
    arranged(first.ok, f"the first turn was not answered: {first.story}")

    # Fields nobody knows today, a longer line, no line at all: the history is still the same.
    for line in (LINE.format("7f3c9"), LINE.format("e" * 40), None):
        before = main.size
        answer = _turn(main, line)
        expect(
            cheap(answer, before),
            expected=f"a start from the {before} tokens of the thread, with the line {line!r}",
            actual=f"{answer.cost} prompt tokens read",
        )


@requirement("MAP-7")
@needs("map")
def test_the_line_never_reaches_the_prompt(main: Thread) -> None:
    rest = "You are careful."
    without = size(main, HELLO, system=[text(rest)])
    bare = size(main, HELLO, system=None)
    forms: dict[str, tuple[Any, int]] = {
        "as a block of its own": ([text(LINE.format("a1")), text(rest)], without),
        "as the first line of a string": (f"{LINE.format('b2')}\n{rest}", without),
        "alone": ([text(LINE.format("c3"))], bare),
    }

    for how, (system, wanted) in forms.items():
        expect_equal(f"prompt tokens with the line {how}", size(main, HELLO, system=system), wanted)


@requirement("MAP-7")
@needs("map")
def test_a_user_who_quotes_the_line_keeps_it(main: Thread) -> None:
    plain = size(main, HELLO, system=None)
    long, short = LINE.format("f" * 40), LINE.format("f")

    quoted = {
        line: size(main, [{"role": "user", "content": line}], system=None) for line in (long, short)
    }

    expect(
        plain < quoted[short] < quoted[long],
        expected=f"a quoted line to be part of the prompt, which has {plain} tokens with 'Hello.'",
        actual=f"{quoted[short]} tokens with a quoted line, {quoted[long]} with a longer one",
    )


@requirement("MAP-7")
@needs("map")
def test_a_quoted_line_that_changes_is_another_history(main: Thread) -> None:
    arranged_mapping(main.client, lines=False)
    quote = f"{LINE.format('a1')} " + "What does this line mean? " * 15
    main.system = "Be brief."
    main.ask(quote)
    before = main.size
    arranged(before > 3 * SLACK, f"a history of {before} tokens is too short to tell")
    edited = quote.replace("cch=a1", "cch=b2")
    main.messages[0] = {"role": "user", "content": edited}

    answer = main.ask("And now?")

    expect(
        not cheap(answer, before),
        expected="a changed quotation to be read again",
        actual=f"only {answer.cost} prompt tokens read",
    )


def _turn(thread: Thread, line: str | None) -> Answer:
    lines = [] if line is None else [text(line)]
    return thread.ask(f"Question {len(thread.messages)}.", system=[*lines, text(thread.system)])
