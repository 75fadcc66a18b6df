"""Chat Completions through the official ``openai`` library."""

import time

from openai import DefaultHttpxClient, OpenAI
from openai.types.chat import ChatCompletionMessageParam

from demo.route import MODEL, Answer, Ask, Turn

_TIMEOUT_S = 300.0


class Chat:
    """See :class:`demo.route.Route`."""

    name = "Chat Completions"

    def ask(self, url: str, ask: Ask) -> Answer:
        extra = {"continue_final_message": True, "add_generation_prompt": False}
        with _client(url) as client:
            sent = time.perf_counter()
            raw = client.chat.completions.with_raw_response.create(
                model=MODEL,
                messages=[_message(turn) for turn in ask.turns],
                max_tokens=ask.max_tokens,
                temperature=0,
                stream=True,
                stream_options={"include_usage": True},
                extra_headers=ask.headers,
                extra_body=extra if ask.partial else None,
            )
            first, text, usage = None, "", None
            for chunk in raw.parse():
                usage = chunk.usage or usage
                piece = chunk.choices[0].delta.content if chunk.choices else None
                if piece and first is None:
                    first = time.perf_counter() - sent
                text += piece or ""
            ended = time.perf_counter() - sent
        assert usage is not None, "the stream ended without its usage"
        details = usage.prompt_tokens_details
        cached = (details.cached_tokens if details else None) or 0
        return Answer(
            outcome=raw.headers.get("x-halogen-from"),
            text=text,
            prompt=usage.prompt_tokens,
            evaluated=usage.prompt_tokens - cached,
            output=usage.completion_tokens,
            first_token=ended if first is None else first,
        )


def _client(url: str) -> OpenAI:
    # No retries: a demo that needs a second attempt should show it.
    return OpenAI(
        base_url=f"{url}/v1",
        api_key="not-needed",
        max_retries=0,
        timeout=_TIMEOUT_S,
        http_client=DefaultHttpxClient(trust_env=False),
    )


def _message(turn: Turn) -> ChatCompletionMessageParam:
    match turn.role:
        case "system":
            return {"role": "system", "content": turn.text}
        case "assistant":
            return {"role": "assistant", "content": turn.text}
        case _:
            return {"role": "user", "content": turn.text}
