"""MAP: the names made for threads: who can know them, and when there are none."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from halogen_conformance.drivers import MESSAGES
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.driver import FROM, KEEP, Header
from halogen_conformance.outcomes import NotOffered, arranged, expect, expect_equal
from halogen_conformance.suite.basics import arranged_listed
from halogen_conformance.suite.claude_code import Thread, new_session
from halogen_conformance.suite.kept import SHORT, NewName, fresh, said
from halogen_conformance.suite.listing import listed_names
from halogen_conformance.suite.marks import needs, requirement
from halogen_conformance.target.target import Running


def other_key(client: Client, server: Running) -> Client:
    """A client with the server's second key."""
    keys: tuple[str, ...] = getattr(getattr(server, "settings", None), "keys", ())
    if len(keys) < 2:
        raise NotOffered("needs a server with two keys: give a command after --")
    return replace(client, key=keys[1])


def guesses(session: str, agent: str | None) -> Iterator[str]:
    """What somebody would try who has read both ids in a log."""
    ids = [session] if agent is None else [session, agent]
    plain = {session, *ids} | {
        f"{before}{glue.join(words)}"
        for words in (ids, [*ids, "main"], ["main", *ids])
        for glue in ("", ":", "/", "-", "_", ".", "|", "\0")
        for before in ("", "claude-code:", "claude-code-", "claude-code/", "cc:", "cc-", "session:")
    }
    for word in sorted(plain):
        yield word
        for kind in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            digest = hashlib.new(kind, word.encode())
            yield digest.hexdigest()
            yield base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


@requirement("MAP-5")
@needs("map")
def test_a_name_cannot_be_guessed_from_session_and_agent_id(main: Thread) -> None:
    arranged_listed(main.client)
    before = listed_names(main.client)
    helper = main.subagent("a-guessed", system="You help. " * 14)
    for thread in (main, helper):
        thread.ask("First question.")
    names = listed_names(main.client) - before
    arranged(bool(names), "a thread of Claude Code has no name in the list")

    tries = {word for agent in (None, helper.agent) for word in guesses(main.session, agent)}
    for name in names:
        # A name may begin with a word for its source, and digests are often cut short.
        tail = name.rpartition(":")[2].rpartition("/")[2]
        found = [word for word in tries if word in name or (len(tail) >= 8 and tail in word)]
        expect(not found, expected="a name with a secret in it", actual=f"{name}: {found[:3]}")


@requirement("MAP-5")
@needs("keys")
def test_two_keys_never_share_a_name(main: Thread, server: Running) -> None:
    arranged_listed(main.client)
    other = other_key(main.client, server)
    before = listed_names(main.client)
    main.ask("First question.")
    mine = listed_names(main.client) - before
    arranged(len(mine) == 1, f"the first turn made the names {sorted(mine)}, not one")

    thief = replace(main.resumed(), client=other)
    answer = thief.ask("And with the other key?")
    theirs = listed_names(main.client) - before - mine

    expect(len(theirs) == 1, expected="a second name for the second key", actual=sorted(theirs))
    if answer.outcomes:
        expect(
            answer.outcome != "used",
            expected="no start from another key's thread",
            actual=answer.story,
        )
    main.goes_on("Second question.", blocks=True)


@requirement("MAP-5")
@needs("keys")
def test_a_mapped_name_does_not_open_for_another_key(main: Thread, server: Running) -> None:
    other = other_key(main.client, server)
    before = listed_names(main.client)
    main.ask("First question.")
    names = listed_names(main.client) - before
    arranged(len(names) == 1, f"the first turn made the names {sorted(names)}, not one")
    [name] = names
    history = [*main.messages, {"role": "user", "content": "Next?"}]

    answer = replace(main, client=other).request(history, headers=((FROM, name),))

    arranged(answer.ok, f"the request was not answered: {answer.story}")
    expect(answer.outcome != "used", expected="no start for another key", actual=answer.story)


@pytest.mark.parametrize("agent", [None, "a-1"], ids=["main", "subagent"])
@requirement("MAP-6")
def test_without_the_setting_no_name_appears(main: Thread, agent: str | None) -> None:
    _arranged_silent(main.client)
    main.hints = True  # all that a request can say of its thread
    thread = main if agent is None else main.subagent(agent)
    before = listed_names(main.client)

    answers = [thread.ask(f"Question {number}.") for number in range(2)]

    expect_equal("names that appeared", listed_names(main.client) - before, set())
    for answer in answers:
        expect_equal("values of X-Halogen-From", answer.outcomes, ())


@requirement("MAP-6")
@needs("map-off")
def test_without_sessions_the_setting_makes_no_names(main: Thread) -> None:
    _arranged_silent(main.client)
    main.hints = True
    answers = [main.ask(f"Question {number}.") for number in range(2)]

    for answer in answers:
        expect_equal("values of X-Halogen-From", answer.outcomes, ())
    names = main.client.names()
    expect(
        names is None or not names.count,
        expected="no list, or an empty one",
        actual=names.body if names else "",
    )


def _arranged_silent(client: Client) -> None:
    """Blocked unless a request without any thread has no outcome: that is SWITCH's question."""
    plain = client.ask(MESSAGES, fresh(new_session()), SHORT)
    arranged(plain.ok, f"a request was not answered: {plain.story}")
    arranged(plain.outcomes == (), f"a request without headers has an outcome: {plain.story}")


@requirement("MAP-10")
@needs("map")
def test_explicit_headers_win_over_the_mapping(main: Thread, new_name: NewName) -> None:
    name = new_name("explicit")
    main.ask("First question.")
    before = listed_names(main.client)
    history = [*main.messages, {"role": "user", "content": "Next?"}]

    unknown = main.request(history, headers=((FROM, new_name("nobody")),))
    kept = main.request(history, headers=((KEEP, name),))

    expect_equal("outcome of a From that nobody kept", said(unknown), "unknown")
    expect(kept.ok, expected="an answer", actual=kept.story)
    expect_equal("new names", listed_names(main.client) - before, {name})
    main.goes_on("Second question.")


@requirement("MAP-10")
@needs("map")
def test_mapped_requests_report_their_outcome(main: Thread) -> None:
    outcomes = [main.ask(f"Question {number}.").outcome for number in range(3)]

    expect_equal("outcomes of three turns", outcomes, ["unknown", "used", "used"])


@requirement("MAP-11")
@needs("map")
def test_a_thread_continued_by_id_is_refused(main: Thread) -> None:
    first = main.ask("First question.")
    before = listed_names(main.client)
    newest = [{"role": "user", "content": "Only the newest message."}]
    beta = (("anthropic-beta", "message-threads-2026-08-12"),)
    thread = {"type": "continue", "previous_message_id": first.reply.id}

    refused = main.request(newest, headers=beta, thread=thread)

    expect_equal("status", refused.status, 400)
    message = refused.reply.error.message if refused.reply.error else ""
    words = "capability_rejected: beta_header:message-threads-2026-08-12"
    expect(words in message, expected=f"a message with {words}", actual=message)
    expect_equal("names", listed_names(main.client), before)
    main.goes_on("Second question.")


ODD_IDS: dict[str, tuple[Header, ...]] = {
    "blank": (("x-claude-code-session-id", ""),),
    "spaces": (("x-claude-code-session-id", "  "),),
    "twice": (("x-claude-code-session-id", "one"), ("x-claude-code-session-id", "two")),
    "not ascii": (("x-claude-code-session-id", "séance".encode()),),
    "very long": (("x-claude-code-session-id", "x" * 5000),),
}


@pytest.mark.parametrize("how", ODD_IDS)
@requirement("MAP-12")
@needs("map")
def test_odd_thread_headers_make_no_name_and_no_error(client: Client, how: str) -> None:
    thread = _Odd(client, new_session())
    before = listed_names(client)
    question = [{"role": "user", "content": "Question."}]

    answer = thread.request(question, headers=ODD_IDS[how], metadata=None)

    expect(answer.ok, expected="an answer as usual", actual=answer.story)
    expect_equal("new names", listed_names(client) - before, set())


class _Odd(Thread):
    """A thread that leaves its headers to the test."""

    def headers(self, request_class: str) -> tuple[Header, ...]:
        return ()
