"""The twin of an answer: the same body asked without session headers."""

from __future__ import annotations

from halogen_conformance.drivers import Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.drivers.reply import Reply
from halogen_conformance.drivers.spelling import PLAIN, Spelling
from halogen_conformance.outcomes import Blocked, Miss, arranged, expect, expect_equal
from halogen_conformance.target.settings import Declared


def ask_twin(
    client: Client,
    driver: Driver,
    history: Conversation,
    options: Options,
    spelling: Spelling = PLAIN,
) -> Answer:
    """Ask the same without headers; Blocked when that is not answered."""
    twin = client.ask(driver, history, options, spelling=spelling)
    arranged(twin.ok, f"the same request without headers was not answered: {twin.story}")
    return twin


def arranged_twin(answer: Answer, twin: Answer, declared: Declared, what: str) -> None:
    """Blocked unless the answer is its twin's, where another row is about that."""
    try:
        expect_twin(answer, twin, declared)
    except Miss as miss:
        raise Blocked(f"{what} has not its twin's answer: {miss}") from None


def expect_twin(answer: Answer, twin: Answer, declared: Declared, what: str = "") -> None:
    """The answer is its twin's. Sizes are always compared; the reply itself, to the letter, where
    the target is declared deterministic: the words of other models are no oracle."""
    at = f" {what}" if what else ""
    expect(answer.ok, expected=f"an answer as usual{at}", actual=answer.story)
    if answer.reply.usage and twin.reply.usage:
        sizes = (answer.reply.usage.prompt, twin.reply.usage.prompt)
        expect_equal(f"prompt tokens as without the headers{at}", *sizes)
    if declared.deterministic:
        replies = (shown(answer.reply), shown(twin.reply))
        expect_equal(f"the reply as without the headers{at}", *replies)


def shown(reply: Reply) -> dict[str, object]:
    """Everything of a reply that must not depend on the headers, for comparing and for reading.
    Ids are made anew for every answer."""
    return {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "calls": [(call.name, call.arguments) for call in reply.calls],
        "finish": reply.finish.value if reply.finish else None,
        "stop string": reply.stop_sequence,
    }
