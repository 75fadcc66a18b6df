"""Where the reply begins when a request ends with an assistant's words (BRANCH-1 to BRANCH-7)."""

from collections.abc import Sequence

from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, Item
from halogen_reference.errors import invalid


def continued(items: Sequence[Item], param: str) -> tuple[list[Item], Opening]:
    """Leave the final assistant item open, so that the reply goes on inside it.

    The text is continued exactly where it ends, white space included (BRANCH-7). An empty one opens
    a reply like any other request. ``param`` names the field for the errors; the caller has made
    sure that the last item is an assistant's. Raises RequestError 400 for an ending that leaves no
    single point to go on from; the answer is the same on every route.
    """
    last = items[-1]
    assert isinstance(last, Assistant)
    if last.calls:
        raise invalid(
            f"{param} ends with an assistant message that has tool calls; it cannot be continued. "
            "Send the tools' results after it.",
            param,
        )
    if len(items) > 1 and isinstance(items[-2], Assistant):
        raise invalid(
            f"{param} ends with two or more assistant messages; which of them to continue is not "
            "defined. Cannot have 2 or more assistant messages at the end of the list.",
            param,
        )
    if last.text:
        return list(items), Opening.CONTINUE
    if last.reasoning:
        raise invalid(
            f"{param} ends with reasoning and no text; only text can be continued.", param
        )
    return list(items[:-1]), Opening.REPLY
