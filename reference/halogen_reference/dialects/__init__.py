"""The three routes' dialects: request JSON to a call, reply events to JSON and event streams."""

from typing import Any

from halogen_reference.dialects import chat, messages, responses
from halogen_reference.dialects.dialect import Dialect, ModelCheck, Request, Stream
from halogen_reference.dialects.failure import ErrorAnswer

DIALECTS: dict[str, Dialect[Any]] = {
    "/v1/chat/completions": chat,
    "/v1/messages": messages,
    "/v1/responses": responses,
}
"""Route path -> the dialect spoken there."""

__all__ = ["DIALECTS", "Dialect", "ErrorAnswer", "ModelCheck", "Request", "Stream"]
