"""A mistake of the server's own: an answer in the route's shape that names the line in the log."""

import logging

import httpx
import pytest

from halogen_reference.settings import read
from halogen_simulator.assembly import assemble
from tests.protocol.histories import asking
from tests.protocol.routes import Route

COUNT = "/v1/messages/count_tokens"


class Broken:
    """A chat template with a mistake in it that nobody foresaw."""

    def render(self, *_: object) -> None:
        raise ZeroDivisionError("a secret of the server's")


async def test_it_is_answered_and_logged(route: Route, caplog: pytest.LogCaptureFixture) -> None:
    simulator = assemble(read({"HALOGEN_FORK": "1"}))
    simulator.server.engine.template = Broken()  # type: ignore[misc,assignment]
    transport = httpx.ASGITransport(simulator.app, raise_app_exceptions=False)
    paths = [route.path, COUNT] if route.name == "messages" else [route.path]
    async with httpx.AsyncClient(transport=transport, base_url="http://simulator") as http:
        for path in paths:
            caplog.clear()
            body = route.body(asking("What is fog?"), partial=None, stream=True, max_tokens=9)
            with caplog.at_level(logging.ERROR):
                got = await http.post(path, json=body, headers={"x-halogen-from": "plan"})

            assert got.status_code == 500
            assert got.headers["content-type"] == "application/json"
            assert got.headers["x-request-id"] in route.error(got.json())
            assert "secret" not in got.text
            [record] = caplog.records
            assert got.headers["x-request-id"] in record.getMessage()
            metrics = (await http.get("/metrics")).text
            assert f'route="{path}",status="500"' in metrics
