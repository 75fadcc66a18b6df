"""What every endpoint that reads a body does: it answers whatever happens, and it is counted."""

import logging
from abc import ABC, abstractmethod
from typing import Any

from starlette.types import Receive, Scope, Send

from halogen_reference.dialects import Dialect
from halogen_reference.errors import RequestError
from halogen_reference.http.exchange import ClientLeft, Exchange
from halogen_reference.server import Server

log = logging.getLogger(__name__)

FROM = "x-halogen-from"


class Endpoint(ABC):
    """ASGI endpoint of one route. Every error is answered in the route's own shape."""

    def __init__(self, server: Server, route: str, dialect: Dialect[Any]) -> None:
        self.server, self.dialect = server, dialect
        self._route = route

    @abstractmethod
    async def answer(self, exchange: Exchange, headers: dict[str, str]) -> None:
        """Read the request and answer it. Raises RequestError and ClientLeft.

        What is put into ``headers`` goes along with an error, too.
        """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = Exchange(scope, receive, send)
        headers: dict[str, str] = {}
        try:
            await self.answer(exchange, headers)
        except ClientLeft:
            exchange.status = exchange.status or 499
        except RequestError as error:
            await self._refuse(exchange, error, headers)
        except Exception:
            log.exception("request %s failed", exchange.request_id)
            if exchange.status:
                raise
            message = (
                f"the server failed on this request; its log tells more ({exchange.request_id})"
            )
            await self._refuse(exchange, RequestError(500, message), headers)
        finally:
            outcome = headers.get(FROM, "none")
            self.server.metrics.requests.labels(self._route, exchange.status, outcome).inc()

    async def _refuse(
        self, exchange: Exchange, error: RequestError, headers: dict[str, str]
    ) -> None:
        answer = self.dialect.error(error, exchange.request_id)
        await exchange.send_json(answer.status, answer.body, {**headers, **answer.headers})
