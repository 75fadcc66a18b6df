"""Does a request repeat a kept conversation? Decided on meaning, never on JSON or token ids."""

from dataclasses import dataclass

from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, Conversation
from halogen_reference.prompt import Seam


@dataclass(frozen=True, slots=True)
class Whole:
    """The request repeats everything, the reply included, and goes on after it (FROM-2)."""


@dataclass(frozen=True, slots=True)
class Inside:
    """The request's last turn is a beginning of the kept reply and goes on from there (BRANCH)."""

    chars: int
    """Length of that beginning, in characters of the reply's text."""


Match = Whole | Inside


def match(kept: Conversation, request: Conversation, opening: Opening) -> Match | None:
    """How a request repeats a kept conversation, whose last item is the reply.

    None when it does not: anything else in the kept part differs, or the request's history is
    shorter (FROM-4, BRANCH-4).
    """
    count = len(kept.items)
    if len(request.items) < count or request.tools != kept.tools:
        return None
    continues = opening is Opening.CONTINUE and len(request.items) == count
    if continues:
        if request.items[: count - 1] != kept.items[: count - 1]:
            return None
        return _inside(kept.items[-1], request.items[-1])
    return Whole() if request.items[:count] == kept.items else None


def _inside(reply: object, partial: object) -> Inside | None:
    if not isinstance(reply, Assistant) or not isinstance(partial, Assistant):
        return None
    if partial.calls or partial.reasoning != reply.reasoning:
        return None
    return Inside(len(partial.text)) if reply.text.startswith(partial.text) else None


def furthest_seam(kept: Conversation, request: Conversation, opening: Opening) -> Seam | None:
    """The last edge of an assistant turn up to which a request repeats a kept conversation.

    A thread's next request need not repeat all that was kept last: a side request may have come
    between, or a subagent goes on from before the reply that called it (MAP-3, MAP-4).
    """
    if request.tools != kept.tools:
        return None
    items, others = request.items, kept.items
    if opening is Opening.CONTINUE:
        items = items[:-1]
    pairs = enumerate(zip(items, others, strict=False))
    common = next((at for at, (a, b) in pairs if a != b), min(len(items), len(others)))
    replies_here = common == len(items) or isinstance(items[common], Assistant)
    if common < len(others) and isinstance(others[common], Assistant) and replies_here:
        return Seam(common, False)
    turns = [at for at in range(common) if isinstance(others[at], Assistant)]
    return Seam(turns[-1], True) if turns else None
