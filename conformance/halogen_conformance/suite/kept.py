"""A state that a test has had kept, with the history a client must repeat to start from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from secrets import choice
from typing import TypeVar

from halogen_conformance.drivers import CHAT, Driver
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_conformance.drivers.driver import Options
from halogen_conformance.outcomes import Blocked, arranged, expect, expect_equal

Case = TypeVar("Case")
NewName = Callable[[str], str]
"""The fixture `new_name`: makes names nobody else uses from a word to read."""

SHORT = Options(max_tokens=4)
"""For requests of which only the outcome matters."""

_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aeiou"

_RULES = (
    "Rain is measured in the garden every morning before breakfast.",
    "The library lends maps, but only to people who bring their own pencil.",
    "Trains to the coast leave from the second platform unless a flag is out.",
    "A recipe without salt goes back to the kitchen with a polite note.",
    "Clocks in the tower are wound by hand on the first day of a month.",
    "Whoever finds the blue lantern carries it home and lights it at dusk.",
)
_QUESTIONS = (
    "Count slowly from one to thirty in words.",
    "Tell me about a day at the sea.",
    "List the planets and say something about each.",
    "Describe how bread is made.",
    "Write a letter to a friend who lives far away.",
    "Explain why the sky is blue.",
)


@dataclass(frozen=True, slots=True)
class Kept:
    """``history`` ends with the reply, as the client saw it."""

    name: str
    history: Conversation
    answer: Answer

    @property
    def reply(self) -> str:
        """The text of the kept reply."""
        return self.answer.reply.text

    @property
    def before(self) -> Conversation:
        """The history without the reply: what a branch goes back to."""
        return self.history.cut(len(self.history.turns) - 1)

    @property
    def size(self) -> int | None:
        """Tokens of history and reply; None without usage."""
        usage = self.answer.reply.usage
        return usage.prompt + usage.output if usage else None

    def then(self, *texts: str) -> Conversation:
        """The history with one more user message: what starts from this state."""
        return self.history.user(*texts)


def unique_word() -> str:
    """A word that no other test and no earlier run has used, one of 3 thousand million.

    It begins a history, too, and is read there: a model's tokens are made of syllables, and as many
    hexadecimal digits are twice as many tokens.
    """
    return "".join(choice(_CONSONANTS) + choice(_VOWELS) for _ in range(5))


def fresh(name: str) -> Conversation:
    """A short history that no server has seen: its first words are ``name``."""
    return Conversation().system(f"{name} is your file.").user("Name one colour.")


def long_history(name: str) -> Conversation:
    """A new history of some 120 tokens: enough to tell whether it is read again."""
    rules = " ".join(_RULES)
    return Conversation().system(f"{name} is your file. {rules}").user("Name one of these rules.")


def keep(
    client: Client,
    driver: Driver,
    history: Conversation,
    options: Options,
    name: str,
    *,
    start: str | None = None,
) -> Kept:
    """Have a reply kept. Blocked when it is not answered; whether it was kept is the test's own
    question."""
    answer = client.ask(driver, history, options, keep=name, start=start)
    arranged(answer.ok, f"a request that keeps a name was not answered: {answer.story}")
    return Kept(name, history.plus(answer.reply.turn(reasoning=True)), answer)


def keep_long(
    client: Client, driver: Driver, name: str, options: Options, *, long: bool = False
) -> Kept:
    """Have a reply kept that is long enough to branch inside it: two words or more, some twenty
    characters, no blanks at its ends. Blocked when no question brings one."""
    story = ""
    for number, question in enumerate(_QUESTIONS):
        head = (long_history if long else fresh)(f"{name}-{number}").cut(1)
        kept = keep(client, driver, head.user(question), options, f"{name}-{number}")
        tidy = kept.reply == kept.reply.strip() and not kept.answer.reply.calls
        if tidy and len(kept.reply) >= 20 and beginning(kept.reply):
            return kept
        story = repr(kept.reply)
    raise Blocked(f"no reply of {options.max_tokens} tokens is long enough to branch in: {story}")


def beginning(reply: str, share: float = 0.5) -> str:
    """The part of a reply before a blank near ``share`` of it: whole words, no blank at its end,
    not the whole of it. Empty when there is none."""
    cuts = [
        at
        for at in range(1, len(reply))
        if reply[at] == " " and not reply[at - 1].isspace() and reply[:at].strip()
    ]
    if not cuts:
        return ""
    return reply[: min(cuts, key=lambda at: abs(at - share * len(reply)))]


def some(cases: Mapping[str, Case], driver: Driver) -> Iterable[tuple[str, Case]]:
    """All cases on Chat Completions, the first two on the others: what is compared is the same
    there, and only how it is read differs."""
    return islice(cases.items(), None if driver.route == CHAT.route else 2)


def said(answer: Answer) -> str:
    """The outcome of a start. Blocked when there is none, or not one: that is FROM-1's question,
    and nothing can be said about what the server meant."""
    outcome = answer.outcome
    if outcome is None:
        raise Blocked(f"no single legal outcome: {answer.story}")
    return outcome


def expect_used(what: str, answer: Answer) -> None:
    """The start is used."""
    expect_equal(f"X-Halogen-From for {what}", said(answer), "used")


def expect_unmatched(what: str, answer: Answer) -> None:
    """The start is not used, for rows that are about which histories are one. Blocked when the
    server says neither `used` nor `unmatched`: the right word is FROM-4's question."""
    expect(said(answer) != "used", expected=f"{what} unmatched", actual=answer.story)
    arranged(said(answer) == "unmatched", f"{what} is neither used nor unmatched: {answer.story}")


def arranged_used(answer: Answer, what: str) -> None:
    """Blocked unless a request that has to be `used` for the test to mean anything is so."""
    arranged(answer.ok and answer.outcome == "used", f"{what} is not used: {answer.story}")
