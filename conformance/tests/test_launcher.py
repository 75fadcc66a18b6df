"""The launcher: servers that start well, badly, late or never, and how they end."""

import os
import signal
import socket
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.connection import Limits
from halogen_conformance.drivers.driver import Request
from halogen_conformance.target import (
    GROUPS,
    CommandTarget,
    Server,
    Settings,
    TargetError,
    Trouble,
)
from halogen_conformance.target import command as command_module
from halogen_conformance.target.process import free_port

GOOD = """
    import json, os, sys, signal
    from http.server import BaseHTTPRequestHandler, HTTPServer
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/die": os._exit(7)
            facts = {"env": {k: v for k, v in os.environ.items() if k.startswith("HALOGEN")},
                     "pid": os.getpid(), "argv": sys.argv[1:]}
            body = json.dumps(facts).encode()
            self.send_response(STATUS)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def log_message(self, *args): pass
    STATUS = 401
    print("key is", os.environ.get("HALOGEN_API_KEY"), flush=True)
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
STUBBORN = GOOD.replace(
    "STATUS = 401", "STATUS = 200; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
)
LOADING = GOOD.replace("STATUS = 401", "STATUS = 503")
CRASHING = "import sys; print('no model file', file=sys.stderr); sys.exit(3)"
SLEEPING = "import time; time.sleep(600)"
SILENT = """
    import socket, sys, time
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    time.sleep(600)
"""
GARBAGE = """
    import socket, sys
    listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        connection, _ = listener.accept()
        connection.sendall(b"220 mail ready\\r\\n")
        connection.close()
"""
WITH_CHILD = """
    import subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open(sys.argv[2], "w").write(str(child.pid))
""" + GOOD.replace("import json, os, sys, signal", "import json, os, sys, signal, subprocess")


def argv(source: str, *more: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(source), "{port}", *more]


Make = Callable[..., Server]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    servers: list[Server] = []

    def build(
        source: str, settings: Settings = GROUPS["on"], *more: str, **options: float
    ) -> Server:
        options = {"start_s": 20, "grace_s": 10, **options}
        servers.append(Server(argv(source, *more), settings, tmp_path, **options))  # type: ignore[arg-type]
        return servers[-1]

    yield build
    for server in servers:
        server.stop()


def facts(server: Server) -> dict[str, object]:
    exchange = Client(server.base_url, limits=Limits(5, 5, 5)).send(Request("GET", "/"))
    found: dict[str, object] = exchange.json()
    return found


def is_running(pid: int) -> bool:
    """A process that has ended but was not yet collected by its parent counts as ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_any_http_answer_means_ready_and_the_settings_arrive(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOGEN_FORK_TTL_S", "1")  # governed: must not leak in
    monkeypatch.setenv("HALOGEN_CTX", "512")  # the user's business: inherited
    server = make(GOOD, GROUPS["key"])
    server.start()
    port = server.base_url.rpartition(":")[2]
    seen = facts(server)
    assert seen["env"] == {
        "HALOGEN_FORK": "1",
        "HALOGEN_FORK_HANDLES": "64",
        "HALOGEN_API_KEY": GROUPS["key"].keys[0],
        "HALOGEN_CTX": "512",
        "HALOGEN_API_PORT": port,
    }
    assert seen["argv"] == [port]
    assert (server.key, server.ttl_s, server.handles) == (GROUPS["key"].keys[0], 600.0, 64)


def test_words_of_the_command_are_never_split_or_expanded(tmp_path: Path, make: Make) -> None:
    odd = "a b; $(touch x) '{port}' *"
    server = make(GOOD, GROUPS["on"], odd)
    server.start()
    port = server.base_url.rpartition(":")[2]
    assert facts(server)["argv"] == [port, odd.replace("{port}", port)]


def test_it_ends_politely_and_can_start_again_with_other_settings(make: Make) -> None:
    server = make(GOOD, GROUPS["restart"])
    server.start()
    first = facts(server)
    cache = server.settings.cache_dir
    assert cache is not None
    assert cache.is_dir()
    assert server.stop() is True
    assert not is_running(int(str(first["pid"])))
    server.restart(GROUPS["restart-ttl"])
    second = facts(server)
    assert second["pid"] != first["pid"]
    assert "'HALOGEN_FORK_TTL_S': '6'" in str(second["env"])
    assert server.settings.cache_dir == cache


def test_a_stubborn_server_is_ended_firmly(make: Make) -> None:
    server = make(STUBBORN, grace_s=0.2)
    server.start()
    pid = server.pid
    assert pid is not None
    assert server.stop() is False
    assert not is_running(pid)


def test_kill_takes_helpers_with_it_and_leaves_the_suite_alone(make: Make, tmp_path: Path) -> None:
    note = tmp_path / "child"
    server = make(WITH_CHILD, GROUPS["on"], str(note))
    server.start()
    child = int(note.read_text())
    assert is_running(child)
    server.kill()
    wait_until(lambda: not is_running(child))
    assert not server.alive


def test_a_dead_server_is_noticed_and_its_helpers_go(make: Make, tmp_path: Path) -> None:
    note = tmp_path / "child"
    server = make(WITH_CHILD, GROUPS["on"], str(note))
    server.start()
    server.check_alive()
    Client(server.base_url).send(Request("GET", "/die"))
    wait_until(lambda: not server.alive)
    with pytest.raises(TargetError, match="has died \\(exit status 7\\)") as caught:
        server.check_alive()
    assert caught.value.trouble is Trouble.DIED
    wait_until(lambda: not is_running(int(note.read_text())))


@pytest.mark.parametrize(
    ("source", "start_s", "trouble", "said"),
    [
        (CRASHING, 20, Trouble.CRASHED, "ended with exit status 3"),
        ("import os; os.kill(os.getpid(), 9)", 20, Trouble.CRASHED, "ended with signal 9"),
        (SLEEPING, 0.5, Trouble.PORT_NEVER_OPENED, "never opened port"),
        (SILENT, 1.5, Trouble.HANGS, "gave no HTTP answer within 1.5 s"),
        (GARBAGE, 600, Trouble.GARBAGE, "something that is not HTTP"),
        (LOADING, 6, Trouble.NOT_READY, "still answered 503"),
    ],
)
def test_a_bad_start_is_one_clear_line_and_leaves_nothing_behind(
    make: Make, source: str, start_s: float, trouble: Trouble, said: str
) -> None:
    server = make(source, start_s=start_s)
    with pytest.raises(TargetError) as caught:
        server.start()
    assert caught.value.trouble is trouble
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not server.alive
    assert server.pid is None


def test_the_log_is_kept_and_shown_without_keys(make: Make) -> None:
    with pytest.raises(TargetError) as caught:
        make(CRASHING).start()
    assert "no model file" in caught.value.log
    server = make(GOOD, GROUPS["key"])
    server.start()
    assert "key is [hidden]" in server.log_tail()
    assert "no model file" in server.log_path.read_text()  # one log for all starts


def test_a_command_without_port_is_told_so(tmp_path: Path) -> None:
    server = Server([sys.executable, "-c", SLEEPING], GROUPS["on"], tmp_path, start_s=0.3)
    with pytest.raises(TargetError, match="only HALOGEN_API_PORT told it"):
        server.start()


@pytest.mark.parametrize("word", ["./no-such-server", "/", ""])
def test_a_command_that_cannot_run_is_bad_usage(word: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError) as caught:
        CommandTarget([word] if word else [], home=tmp_path).running("on")
    assert caught.value.trouble is Trouble.BAD_USAGE


def test_a_port_taken_meanwhile_is_tried_again_elsewhere(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = free_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [taken.getsockname()[1], free]
        monkeypatch.setattr(command_module, "free_port", lambda: ports.pop(0))
        server = make(GOOD)
        server.start()
    assert server.base_url.endswith(f":{free}")
    assert facts(server)["pid"] == server.pid


def test_groups_share_a_server_and_close_ends_all(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    target = CommandTarget(
        argv(GOOD),
        home=tmp_path,
        start_s=20,
        note=lambda action, settings: told.append((action, settings.name)),
    )
    shared = target.running("on")
    assert target.running("on") is shared
    shared.kill()
    again = target.running("on")
    assert again is not shared
    own = target.server(GROUPS["cap"], extra_env={"HALOGEN_CTX": "256"})
    own.start()
    assert "'HALOGEN_CTX': '256'" in str(facts(own)["env"])
    pids = [again.pid, own.pid]
    target.close()
    target.close()
    assert not any(is_running(pid) for pid in pids if pid)
    assert told == [
        ("start", "on"),
        ("kill", "on"),
        ("start", "on"),
        ("start", "cap"),
        ("stop", "on"),
        ("stop", "cap"),
    ]
    assert target.offers("restart")
    with pytest.raises(KeyError, match="moon"):
        target.offers("moon")


def test_an_interrupt_while_waiting_leaves_no_server(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = make(SLEEPING)
    pids: list[int] = []

    def interrupted(*_: object) -> None:
        assert server.pid is not None
        pids.append(server.pid)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)

    monkeypatch.setattr(command_module, "wait_ready", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.start()
    assert not is_running(pids[0])
