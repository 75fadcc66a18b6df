"""How the simulated model reads a conversation: ChatML, written out by hand for speed.

The pieces and seams are those :class:`halogen_reference.prompt.ChatTemplate` cuts out of a Jinja2
template; a test holds the two against each other.
"""

from halogen_reference import tool_form
from halogen_reference.call import Opening
from halogen_reference.conversation import Assistant, Conversation, System, ToolResult, User
from halogen_reference.errors import invalid
from halogen_reference.prompt import Piece, Prompt, Seam
from halogen_simulator.vocabulary import TURN_CLOSE, TURN_OPEN

_OPEN = {
    role: Piece(f"{TURN_OPEN}{role}\n", True) for role in ("system", "user", "assistant", "tool")
}
_REPLY = f"{TURN_OPEN}assistant\n"
_CLOSE = Piece(f"{TURN_CLOSE}\n", True)


class ChatMl:
    """See :class:`halogen_reference.engine.protocol.Template`."""

    def render(self, conversation: Conversation, opening: Opening) -> Prompt:
        """The prompt for a reply. Raises RequestError 400 when no text is left open to continue."""
        items = conversation.items
        pieces: list[Piece] = []
        start = 0
        if conversation.tools:
            head = items[0].text if items and isinstance(items[0], System) else ""
            start = 1 if head else 0
            text = tool_form.offer(head, conversation.tools)
            pieces += (_OPEN["system"], Piece(text, False), _CLOSE)
        for index in range(start, len(items)):
            match items[index]:
                case User(text):
                    pieces += (_OPEN["user"], Piece(text, False), _CLOSE)
                case Assistant() as turn:
                    pieces += _turn(index, turn)
                case System(text):
                    pieces += (_OPEN["system"], Piece(text, False), _CLOSE)
                case ToolResult() as result:
                    text = tool_form.result_text(result)
                    pieces += (_OPEN["tool"], Piece(text, False), _CLOSE)
        if opening is Opening.REPLY:
            pieces.append(Piece(_REPLY, True, Seam(len(items), False)))
        elif opening is Opening.CONTINUE:
            if not items or not isinstance(items[-1], Assistant):
                raise invalid("the last message is no assistant text to continue", "messages")
            pieces.pop()
        return tuple(pieces)


def _turn(index: int, turn: Assistant) -> tuple[Piece, ...]:
    return (
        Piece(_REPLY, True, Seam(index, False)),
        Piece(tool_form.turn(turn), False, Seam(index, True)),
        _CLOSE,
    )
