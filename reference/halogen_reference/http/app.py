"""The application: routes to endpoints, and errors in each route's own shape."""

import gc
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from halogen_reference.dialects import DIALECTS
from halogen_reference.dialects.failure import openai_error
from halogen_reference.errors import RequestError
from halogen_reference.http.access import admit, presented_key
from halogen_reference.http.count import COUNT, Count
from halogen_reference.http.endpoint import Endpoint
from halogen_reference.http.exchange import id_headers, new_request_id
from halogen_reference.http.replies import Replies
from halogen_reference.server import Server

Page = Callable[[Request], Response]


class Application(Starlette):
    """Starlette, and a short way to the endpoints that nearly all requests ask for: they answer
    every error themselves, so neither routing nor its middleware has anything to do for them."""

    def __init__(self, posts: Mapping[str, ASGIApp], **how: Any) -> None:
        super().__init__(**how)
        self._posts = posts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST" and not scope.get("root_path"):
            endpoint = self._posts.get(scope["path"])
            if endpoint is not None:
                await endpoint(scope, receive, send)
                return
        await super().__call__(scope, receive, send)


def build_app(server: Server) -> Starlette:
    """The ASGI application; starts the engine with its lifespan and stops it at the end."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await server.engine.start()
        await server.sessions.start()
        # What is there now stays: the collector need not look through it again and again. Requests
        # leave few cycles, so it need not come often either.
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        try:
            yield
        finally:
            await server.sessions.stop()
            await server.engine.stop()

    def guarded(page: Page) -> Page:
        def admitted(request: Request) -> Response:
            try:
                admit(presented_key(request.headers), server.settings.api_keys)
            except RequestError as error:
                return _error(request, error)
            return page(request)

        return admitted

    posts: dict[str, Endpoint] = {
        path: Replies(server, path, dialect) for path, dialect in DIALECTS.items()
    }
    posts[COUNT] = Count(server)
    routes = [
        *(Route(path, endpoint, methods=["POST"]) for path, endpoint in posts.items()),
        Route("/v1/models", guarded(lambda request: JSONResponse(_models(server)))),
        Route("/v1/models/{model:path}", guarded(lambda request: _model(server, request))),
        Route("/health", lambda request: JSONResponse({"status": "ok"})),
        Route("/metrics", lambda request: _metrics(server)),
    ]
    if server.settings.fork:
        handles = guarded(lambda request: JSONResponse(_handles(server)))
        routes.append(Route("/halogen/handles", handles))
    handlers = {HTTPException: _refused}
    return Application(posts, routes=routes, lifespan=lifespan, exception_handlers=handlers)


def _metrics(server: Server) -> Response:
    return Response(server.metrics.page(), media_type=CONTENT_TYPE_LATEST)


def _models(server: Server) -> dict[str, object]:
    """One body both SDKs can read."""
    ids = server.settings.model_ids or (server.model_id,)
    data = [_describe(name) for name in ids]
    return {
        "object": "list",
        "data": data,
        "has_more": False,
        "first_id": ids[0],
        "last_id": ids[-1],
    }


def _describe(name: str) -> dict[str, object]:
    return {
        "id": name,
        "object": "model",
        "created": 0,
        "owned_by": "halogen-reference",
        "type": "model",
        "display_name": name,
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
    }


def _model(server: Server, request: Request) -> Response:
    name = request.path_params["model"]
    if name not in (server.settings.model_ids or (server.model_id,)):
        raise HTTPException(404, f"there is no model {name!r} here")
    return JSONResponse(_describe(name))


def _handles(server: Server) -> dict[str, object]:
    """LIST-1, LIST-2: every live name and no other."""
    table = server.sessions.table
    data = [
        {
            "name": entry.name,
            "tokens": entry.tokens,
            "bytes": entry.size,
            "parent": entry.parent,
            "source": entry.source,
            "created_at": entry.created_at,
            "last_used_at": entry.last_used_at,
            "expires_at": table.expires_at(entry),
            "on_disk": entry.on_disk,
        }
        for entry in table.live()
    ]
    return {"object": "list", "data": data, "max_handles": table.cap, "ttl_s": table.ttl}


async def _refused(request: Request, error: Exception) -> Response:
    """Errors raised before a route's own endpoint: unknown paths, wrong methods."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    return _error(request, RequestError(error.status_code, error.detail, headers=headers))


def _error(request: Request, error: RequestError) -> Response:
    """An error in the shape of the route it happened on."""
    path = request.url.path
    dialect = DIALECTS.get(path.removesuffix("/count_tokens"))
    request_id = new_request_id()
    answer = (dialect.error if dialect else openai_error)(error, request_id)
    return JSONResponse(answer.body, answer.status, {**id_headers(request_id), **answer.headers})
