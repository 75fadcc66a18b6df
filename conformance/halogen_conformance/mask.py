"""Hiding of secrets in everything that is written down about a run.

The drivers hide the key in the headers they record. This is the second fence: a server may echo
the key in a body, an error text or its log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from halogen_conformance.drivers.secrets import HIDDEN, hide_header
from halogen_conformance.events import Event

# Shorter "secrets" are words like `key`; hiding them would shred the report and protect nobody.
_SHORTEST = 6
_USERINFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")
# Names and enumerations of our own: never the target's text.
_OURS = frozenset({"test", "requirement", "requirements", "id", "outcome", "verdict", "level"})


class Mask:
    """Replaces every occurrence of the given secrets, as they are and as JSON writes them."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) >= _SHORTEST:
                forms |= {
                    secret,
                    json.dumps(secret)[1:-1],
                    json.dumps(secret, ensure_ascii=False)[1:-1],
                }
        # Longest first, or a secret that begins like another would leave its tail behind.
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def text(self, text: str) -> str:
        """The text without secrets and without user names and passwords in URLs."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        return _USERINFO.sub(HIDDEN, text)

    def _value(self, value: Any) -> Any:
        if type(value) is str:  # not an enum, which is a str too
            return self.text(value)
        if isinstance(value, tuple):
            return tuple(self._value(item) for item in value)
        return value

    def event(self, event: Event) -> Event:
        """The event with all texts that can hold foreign words masked."""
        changed = {
            spec.name: self._value(getattr(event, spec.name))
            for spec in fields(event)
            if spec.name not in _OURS
        }
        for name in ("request_headers", "response_headers"):
            if name in changed:
                changed[name] = tuple(
                    (key, hide_header(key, value)) for key, value in changed[name]
                )
        return replace(event, **changed)
