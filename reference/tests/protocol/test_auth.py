"""AUTH: who is let in, by which header, and what those learn who are not."""

from collections.abc import Iterator

import pytest

from tests.protocol.client import Talk, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES, Json, Route
from tests.protocol.server import Server, running

FIRST, SECOND = "sk-first-of-two", "sk-second-of-two"
REFUSED: dict[str, dict[str, str]] = {
    "no key": {},
    "another key": {"authorization": "Bearer sk-somebody-else"},
    "the beginning of one": {"x-api-key": FIRST[:-1]},
    "one and more": {"x-api-key": FIRST + "x"},
    "both as they are set": {"x-api-key": f"{FIRST},{SECOND}"},
    "an empty one": {"authorization": "Bearer"},
    "another scheme": {"authorization": f"Basic {FIRST}"},
    "x-api-key wins": {"x-api-key": "sk-wrong", "authorization": f"Bearer {FIRST}"},
    "letters beyond ASCII": {"x-api-key": "sk-\xe4"},
}
ADMITTED: dict[str, dict[str, str]] = {
    "bearer": {"authorization": f"Bearer {FIRST}"},
    "bearer in small letters": {"authorization": f"bearer {SECOND}"},
    "x-api-key": {"x-api-key": SECOND},
    "both": {"x-api-key": FIRST, "authorization": "Bearer sk-wrong"},
}
COUNT = "/v1/messages/count_tokens"


@pytest.fixture(scope="module")
def guarded(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two keys, and a client that carries the first."""
    log = tmp_path_factory.mktemp("guarded") / "log"
    with running(engine, log, {"HALOGEN_FORK": "1", "HALOGEN_API_KEY": f"{FIRST}, {SECOND}"}) as it:
        it.http.headers["authorization"] = f"Bearer {FIRST}"
        yield it
        for key in (FIRST, SECOND, "sk-somebody-else", "sk-wrong"):
            assert key not in it.log(), "a key is never logged"


def knock(server: Server, method: str, path: str, who: dict[str, str], body: Json | None) -> Json:
    """One request with these credentials and no others; it must be refused."""
    del server.http.headers["authorization"]
    try:
        names = {"x-halogen-from": "plan", "x-halogen-keep": "plan"}
        sent = [(key.encode(), value.encode("latin-1")) for key, value in {**names, **who}.items()]
        got = server.http.request(method, path, json=body, headers=sent)
    finally:
        server.http.headers["authorization"] = f"Bearer {FIRST}"
    assert got.status_code == 401, (path, got.text)
    assert got.headers["www-authenticate"] == "Bearer"
    # A name is nobody's business who is not let in: live or not, the answer is the same.
    assert got.headers.get("x-halogen-from", "unknown") == "unknown"
    assert FIRST not in got.text and SECOND not in got.text
    answer: Json = got.json()
    return answer


@pytest.mark.parametrize("case", REFUSED)
def test_auth_1_nobody_else_is_let_in(guarded: Server, case: str) -> None:
    """Every route that reads or writes state refuses in its own error shape and keeps nothing."""
    who = REFUSED[case]
    talk = Talk(guarded, ROUTES["chat"], stream=False)
    kept = talk.kept("plan", asking("What is fog?"))
    before = guarded.handles()
    for route in ROUTES.values():
        for stream in (False, True):
            body = route.body(kept.then("Why?"), partial=None, stream=stream)
            message = route.error(knock(guarded, "POST", route.path, who, body))
            assert "API key" in message and "x-api-key" in message, "it says what to do"
    messages = ROUTES["messages"]
    body = messages.body(asking("What is fog?"), partial=None, stream=False)
    refused = knock(guarded, "POST", COUNT, who, body)
    assert messages.error(refused) and refused["error"]["type"] == "authentication_error"
    for path in ("/halogen/handles", "/v1/models", "/v1/models/any"):
        refused = knock(guarded, "GET", path, who, None)
        assert ROUTES["chat"].error(refused) and refused["error"]["code"] == "invalid_api_key"
    assert guarded.handles() == before
    check_used(talk, kept, kept.then("Why?"))


def test_auth_1_a_refusal_names_the_outcome_unknown(guarded: Server, route: Route) -> None:
    body = route.body(asking("What is fog?"), partial=None, stream=True)
    got = guarded.http.post(
        route.path, json=body, headers={"x-api-key": "sk-wrong", "x-halogen-from": "plan"}
    )
    assert got.status_code == 401 and got.headers.get_list("x-halogen-from") == ["unknown"]


@pytest.mark.parametrize("case", ADMITTED)
def test_auth_2_both_headers(guarded: Server, route: Route, case: str) -> None:
    body = route.body(asking("What is fog?"), partial=None, stream=False, max_tokens=1)
    del guarded.http.headers["authorization"]
    try:
        got = guarded.http.post(route.path, json=body, headers=ADMITTED[case])
        listed = guarded.http.get("/halogen/handles", headers=ADMITTED[case])
    finally:
        guarded.http.headers["authorization"] = f"Bearer {FIRST}"
    assert (got.status_code, listed.status_code) == (200, 200)


def test_auth_3_explicit_names_are_shared_between_keys(guarded: Server, whole: Talk) -> None:
    talk = Talk(guarded, whole.route, stream=True)
    kept = talk.kept("shared", asking("What is foam?"))
    guarded.http.headers["authorization"] = f"Bearer {SECOND}"
    try:
        check_used(talk, kept, kept.then("Why?"))
    finally:
        guarded.http.headers["authorization"] = f"Bearer {FIRST}"


def test_auth_3_without_keys_everybody_is_let_in(start_server: StartServer, route: Route) -> None:
    server = start_server()
    body = route.body(asking("What is fog?"), partial=None, stream=False, max_tokens=1)
    for headers in ({}, {"x-api-key": "any"}, {"authorization": "Bearer other"}):
        assert server.http.post(route.path, json=body, headers=headers).status_code == 200
