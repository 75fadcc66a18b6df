"""Anthropic Messages: ``/v1/messages`` and ``/v1/messages/count_tokens``."""

from halogen_reference.dialects.failure import anthropic_error as error
from halogen_reference.dialects.messages.reply import count_reply, reply
from halogen_reference.dialects.messages.request import MessagesRequest, parse, parse_count
from halogen_reference.dialects.messages.stream import MessagesStream as stream

__all__ = ["MessagesRequest", "count_reply", "error", "parse", "parse_count", "reply", "stream"]
