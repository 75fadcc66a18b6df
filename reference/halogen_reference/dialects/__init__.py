"""The three routes' dialects: request JSON to a call, reply events to JSON and event streams."""

from typing import Any

from halogen_reference.dialects import chat, messages, responses
from halogen_reference.dialects.dialect import Dialect, Request, Stream
from halogen_reference.dialects.failure import ErrorAnswer
from halogen_reference.dialects.model import ModelCheck

DIALECTS: dict[str, Dialect[Any]] = {
    "/v1/chat/completions": chat,
    "/v1/messages": messages,
    "/v1/responses": responses,
}
"""Route path -> the dialect spoken there."""

__all__ = ["DIALECTS", "Dialect", "ErrorAnswer", "ModelCheck", "Request", "Stream"]
