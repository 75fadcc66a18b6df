"""LIST: what ``GET /halogen/handles`` says."""

import time

from tests.protocol.client import Talk, check_used
from tests.protocol.conftest import StartServer
from tests.protocol.histories import asking
from tests.protocol.routes import Route

FIELDS = {
    "name", "tokens", "bytes", "parent", "source", "created_at", "last_used_at", "expires_at",
    "on_disk",
}  # fmt: skip


def test_list_1_and_2_every_live_name_and_no_other(start_server: StartServer, route: Route) -> None:
    server = start_server(HALOGEN_FORK_HANDLES="3", HALOGEN_FORK_TTL_S="300")
    talk = Talk(server, route, stream=False)
    answer = server.http.get("/halogen/handles")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json() == {"object": "list", "data": [], "max_handles": 3, "ttl_s": 300}

    started = time.time()
    plan = talk.kept("plan", asking("What is fog?"))
    talk.kept("other/../name", asking("What is foam?"))
    check_used(talk, plan, plan.then("Why?"), keep="branch")
    ended = time.time()

    page = server.http.get("/halogen/handles").json()
    assert sorted(entry["name"] for entry in page["data"]) == ["branch", "other/../name", "plan"]
    for entry in page["data"]:
        assert set(entry) == FIELDS
        assert entry["bytes"] > 0 and entry["on_disk"] is False and entry["source"] == "header"
        assert started <= entry["created_at"] <= entry["last_used_at"] <= ended
        assert entry["expires_at"] == entry["last_used_at"] + 300
    handles = server.handles()
    assert handles["plan"]["tokens"] == plan.tokens
    assert handles["plan"]["parent"] is None and handles["branch"]["parent"] == "plan"
    # Wrong methods neither break it nor change anything.
    for method in ("POST", "DELETE", "PUT"):
        refused = server.http.request(method, "/halogen/handles")
        assert refused.status_code == 405
        route.error(refused.json()) if route.name == "chat" else None
    assert server.http.head("/halogen/handles").status_code == 200
    assert server.handles() == handles


def test_list_1_shared_prefixes_are_held_once(start_server: StartServer, route: Route) -> None:
    """Forks of one history cost its cells once, and what each added."""
    server = start_server()
    talk = Talk(server, route, stream=False)
    plan = talk.kept("plan", asking("What is fog? " + "It is grey. " * 20))
    for number in range(3):
        check_used(talk, plan, plan.then(f"Why {number}?"), keep=f"fork-{number}")
    server.idle()
    handles = server.handles()
    added = sum(entry["tokens"] - plan.tokens for entry in handles.values())
    used = server.gauge("halogen_kv_cells_used")
    assert plan.tokens - 1 <= used <= plan.tokens + added
    assert server.gauge("halogen_kv_cells_shared") >= plan.tokens - 1
    assert server.gauge("halogen_live_names") == len(handles)
