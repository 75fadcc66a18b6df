"""The line Claude Code puts before its system prompt (MAP-7, P14).

It names the client's version and differs between the requests of one conversation, so it would
spoil every match at the first token. It is taken off the ``system`` field only: a user who quotes
such a line in a message keeps it.
"""

_MARK = "x-anthropic-billing-header:"


def without_attribution(texts: list[str]) -> list[str]:
    """The system prompt's texts without the line."""
    if not texts or not texts[0].startswith(_MARK):
        return texts
    rest = texts[0].partition("\n")[2]
    return [text for text in (rest, *texts[1:]) if text]
