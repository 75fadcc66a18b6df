"""The least a server can do: read a request's JSON and return an answer made beforehand."""

import json
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

ANSWER = json.loads(sys.argv[1])


async def answer(request: Request) -> JSONResponse:
    """Whatever is asked."""
    await request.json()
    return JSONResponse(ANSWER)


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"bare: on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    app = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    config = uvicorn.Config(app, log_level="warning", access_log=False, ws="none")
    uvicorn.Server(config).run(sockets=[listener])
