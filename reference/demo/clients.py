"""The vendors' client libraries, pointed at a server on this machine."""

import anthropic
import openai

MODEL = "default"
"""The reference answers under any name unless HALOGEN_MODEL_ID says otherwise."""

CLIENT_ERRORS = (openai.OpenAIError, anthropic.AnthropicError)
"""What the libraries raise."""

_TIMEOUT_S = 300.0
_KEY = "not-needed"

# No retries: a demo that needs a second attempt should show it. Whatever proxy the environment
# names is not for a server on this machine, and nothing here is encrypted.


def openai_client(url: str) -> openai.OpenAI:
    http = openai.DefaultHttpxClient(trust_env=False, verify=False)
    return openai.OpenAI(
        base_url=f"{url}/v1", api_key=_KEY, max_retries=0, timeout=_TIMEOUT_S, http_client=http
    )


def anthropic_client(url: str) -> anthropic.Anthropic:
    http = anthropic.DefaultHttpxClient(trust_env=False, verify=False)
    return anthropic.Anthropic(
        base_url=url, api_key=_KEY, max_retries=0, timeout=_TIMEOUT_S, http_client=http
    )
