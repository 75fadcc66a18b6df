"""Identifiers on the wire: each route's prefix, and the part that is the same on all of them."""

import secrets

_CALL_PREFIXES = ("call_", "toolu_")


def new_id(prefix: str) -> str:
    """A fresh identifier, such as ``chatcmpl-`` followed by random hex digits."""
    return prefix + secrets.token_hex(12)


def bare_call_id(wire_id: str) -> str:
    """A tool call's id without its route's prefix.

    The same call is ``call_x`` on the OpenAI routes and ``toolu_x`` on Messages. Without the prefix
    both histories are the same conversation (FROM-10).
    """
    for prefix in _CALL_PREFIXES:
        if wire_id.startswith(prefix) and len(wire_id) > len(prefix):
            return wire_id[len(prefix) :]
    return wire_id
