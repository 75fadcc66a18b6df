"""What Claude Code's requests say of their thread, in headers and metadata."""

import json
import re

from halogen_reference.http.exchange import Exchange
from halogen_reference.sessions.threads import Thread

_ID = re.compile(r"[\x21-\x2b\x2d-\x7e]{1,256}")
_OLD_USER_ID = re.compile(r"user_.*_session_(?P<session>[0-9a-fA-F-]{36})")


def read_thread(exchange: Exchange, user_id: str, key: str) -> Thread | None:
    """The thread a request belongs to. None when it names none, or an id in it is malformed,
    blank or given twice: such a request gets no name of its own, and no error either."""
    session = exchange.header("x-claude-code-session-id")
    agent = exchange.header("x-claude-code-agent-id")
    parent = exchange.header("x-claude-code-parent-agent-id")
    if session is None:
        session = _session_in(user_id)
    given = [one for one in (session, agent, parent) if one is not None]
    if session is None or not all(_ID.fullmatch(one) for one in given):
        return None
    hint = exchange.header("x-claude-code-request-class")
    return Thread(session, agent, parent, key, hint)


def _session_in(user_id: str) -> str | None:
    """``metadata.user_id`` is a JSON object in newer versions, one long word in older ones."""
    old = _OLD_USER_ID.fullmatch(user_id)
    if old:
        return old["session"]
    try:
        value = json.loads(user_id)
    except (ValueError, RecursionError):
        return None
    session = value.get("session_id") if isinstance(value, dict) else None
    return session if isinstance(session, str) else None
