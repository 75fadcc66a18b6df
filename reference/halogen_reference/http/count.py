"""``/v1/messages/count_tokens``: the prompt's length, nothing evaluated, no name touched (P15)."""

from starlette.types import Receive, Scope, Send

from halogen_reference.dialects import messages
from halogen_reference.errors import RequestError
from halogen_reference.http.access import admit
from halogen_reference.http.exchange import ClientLeft, Exchange
from halogen_reference.server import Server
from halogen_reference.sessions.start import cold

COUNT = "/v1/messages/count_tokens"


class Count:
    """ASGI endpoint."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        server = self._server
        try:
            admit(exchange.key(), server.settings.api_keys)
            body = await exchange.body()
            call = messages.parse_count(body, check_model=server.check_model).call
            prompt = server.engine.template.render(call.conversation, call.opening)
            counted = cold(prompt, server.sessions.tokens).counted
            await exchange.send_json(200, messages.count_reply(counted))
        except ClientLeft:
            pass
        except RequestError as error:
            answer = messages.error(error, exchange.request_id)
            await exchange.send_json(answer.status, answer.body, answer.headers)
        finally:
            server.metrics.requests.labels(COUNT, exchange.status, "none").inc()
