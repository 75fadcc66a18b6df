"""OpenAI Chat Completions: ``/v1/chat/completions``."""

from halogen_reference.dialects.chat.reply import reply
from halogen_reference.dialects.chat.request import ChatRequest, parse
from halogen_reference.dialects.chat.stream import ChatStream as stream
from halogen_reference.dialects.failure import openai_error as error

__all__ = ["ChatRequest", "error", "parse", "reply", "stream"]
