"""Foreign text made safe to look at.

What a server sends may hold escape sequences that drive the terminal, direction marks that
reorder a line, or halves of surrogate pairs that no file takes. They are shown as escapes.
"""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")
# Control, format (direction marks, zero-width), surrogate, private use, unassigned; and the two
# line separators, which some readers take for line ends.
_SHOWN_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _is_hidden(char: str) -> bool:
    return char not in _KEPT and unicodedata.category(char) in _SHOWN_ESCAPED


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def visible(text: str, limit: int | None = None) -> str:
    """The text with everything invisible escaped, cut to `limit` characters with a remark."""
    cut = len(text) - limit if limit is not None and len(text) > limit else 0
    shown = text[:limit] if cut else text
    # Texts are long and their alphabets small.
    strange = {ord(char): _escape(char) for char in set(shown) if _is_hidden(char)}
    if strange:
        shown = shown.translate(strange)
    return f"{shown}… ({cut:,} more characters)" if cut else shown


def one_line(text: str, limit: int | None = None) -> str:
    """`visible`, with line ends and tabs as single spaces."""
    return " ".join(visible(text, limit).split())
