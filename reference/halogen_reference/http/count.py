"""``/v1/messages/count_tokens``: the prompt's length, nothing evaluated, no name touched (P15)."""

from halogen_reference.dialects import messages
from halogen_reference.http.access import admit
from halogen_reference.http.endpoint import Endpoint
from halogen_reference.http.exchange import Exchange
from halogen_reference.server import Server
from halogen_reference.sessions.start import cold

COUNT = "/v1/messages/count_tokens"


class Count(Endpoint):
    """ASGI endpoint."""

    def __init__(self, server: Server) -> None:
        super().__init__(server, COUNT, messages)

    async def answer(self, exchange: Exchange, headers: dict[str, str]) -> None:
        server = self.server
        admit(exchange.key(), server.settings.api_keys)
        body = await exchange.body()
        call = messages.parse_count(body, check_model=server.check_model).call
        prompt = server.engine.template.render(call.conversation, call.opening)
        counted = cold(prompt, server.sessions.tokens).counted
        await exchange.send_json(200, messages.count_reply(counted))
