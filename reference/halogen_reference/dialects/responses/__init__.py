"""OpenAI Responses: ``/v1/responses``."""

from halogen_reference.dialects.failure import openai_error as error
from halogen_reference.dialects.responses.reply import reply
from halogen_reference.dialects.responses.request import ResponsesRequest, parse
from halogen_reference.dialects.responses.stream import ResponsesStream as stream

__all__ = ["ResponsesRequest", "error", "parse", "reply", "stream"]
