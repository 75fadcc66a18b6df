"""Error answers, row by row."""

import pytest

from halogen_reference.dialects.failure import anthropic_error, openai_error
from halogen_reference.errors import RequestError, invalid, overloaded, prompt_too_long


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", "invalid_api_key"),
        (403, "permission_error", None),
        (404, "invalid_request_error", None),
        (405, "invalid_request_error", None),
        (408, "timeout_error", None),
        (413, "invalid_request_error", "request_too_large"),
        (429, "rate_limit_error", "rate_limit_exceeded"),
        (500, "server_error", None),
        (503, "server_error", "overloaded"),
    ],
)
def test_openai_rows(status: int, kind: str, code: str | None) -> None:
    answer = openai_error(RequestError(status, "no"))
    assert answer.status == status
    assert answer.body == {"error": {"message": "no", "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("status", "kind", "sent"),
    [
        (400, "invalid_request_error", 400),
        (401, "authentication_error", 401),
        (403, "permission_error", 403),
        (404, "not_found_error", 404),
        (405, "invalid_request_error", 405),
        (408, "timeout_error", 408),
        (413, "request_too_large", 413),
        (429, "rate_limit_error", 429),
        (500, "api_error", 500),
        (503, "overloaded_error", 529),
    ],
)
def test_anthropic_rows(status: int, kind: str, sent: int) -> None:
    answer = anthropic_error(RequestError(status, "no"), "req_1")
    assert answer.status == sent
    assert answer.body == {
        "type": "error",
        "error": {"type": kind, "message": "no"},
        "request_id": "req_1",
    }


def test_a_code_and_a_parameter_are_passed_on() -> None:
    answer = openai_error(RequestError(404, "no", "model", "model_not_found"))
    error = answer.body["error"]
    assert isinstance(error, dict)
    assert (error["param"], error["code"]) == ("model", "model_not_found")


def test_headers_are_passed_on() -> None:
    assert openai_error(overloaded("busy")).headers == {"retry-after": "1"}
    assert anthropic_error(overloaded("busy")).headers == {"retry-after": "1"}


def test_messages_names_the_parameter_in_the_text() -> None:
    assert "model: unknown" in str(anthropic_error(invalid("unknown", "model")).body)
    once = str(anthropic_error(invalid("model is unknown", "model")).body)
    assert once.count("model") == 1


def test_the_wording_agent_programs_parse_is_left_alone() -> None:
    message = "prompt is too long: 9 tokens > 8 maximum"
    assert f"'message': '{message}'" in str(anthropic_error(prompt_too_long(9, 8)).body)
    assert "context_length_exceeded" in str(openai_error(prompt_too_long(9, 8)).body)
