"""The proxy of REPLICAS.md in front of three simulators: same family, same server; a server lost
means unknown and never a wrong answer."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from halogen_conformance.drivers import CHAT
from halogen_conformance.drivers.answer import Answer
from halogen_conformance.drivers.client import Client
from halogen_conformance.drivers.conversation import Conversation
from halogen_loadtest.target import Target, TargetLost
from tests.launched import HOME, Server, load, simulator

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
pytestmark = pytest.mark.skipif(
    NGINX is None, reason="no nginx is installed (Debian: apt-get install nginx)"
)
FRAME = """
daemon off; worker_processes 1; pid nginx.pid; error_log error.log warn;
events { worker_connections 512; }
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    %s
}
"""


@dataclass(frozen=True)
class Fleet:
    """Three servers behind one address."""

    client: Client
    servers: list[Server]

    def keep(self, name: str, story: Conversation, start: str | None = None) -> Answer:
        return self.client.ask(CHAT, story, keep=name, start=start)

    def home(self, name: str) -> Server:
        """The one server whose list has the name."""
        holding = [one for one in self.servers if Target(one.url).names().has(name)]
        assert len(holding) == 1, f"{name} is on {len(holding)} servers"
        return holding[0]


def configuration() -> str:
    """The block of REPLICAS.md."""
    page = (HOME / "loadtest" / "REPLICAS.md").read_text("utf-8")
    found = re.search(r"```nginx\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    assert NGINX is not None
    with ExitStack() as stack:
        servers = [stack.enter_context(simulator(HALOGEN_FORK_HANDLES="64")) for _ in range(3)]
        port = free_port()
        text = configuration().replace("127.0.0.1:8730", f"127.0.0.1:{port}")
        for number, server in enumerate(servers, start=8731):
            assert f"127.0.0.1:{number}" in text
            text = text.replace(f"127.0.0.1:{number}", f"127.0.0.1:{server.port}")
        (tmp_path / "nginx.conf").write_text(FRAME % text, "utf-8")
        process = subprocess.Popen(
            [NGINX, "-p", str(tmp_path), "-c", "nginx.conf", "-e", "error.log"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            client = Client(f"http://127.0.0.1:{port}")
            wait_until_there(Target(client.url), process)
            yield Fleet(client, servers)
        finally:
            process.terminate()
            process.wait(20)


def wait_until_there(target: Target, process: subprocess.Popen[bytes]) -> None:
    for _ in range(5000):
        assert process.poll() is None, "nginx has ended: see error.log in its folder"
        try:
            target.get("/health")
        except TargetLost:
            continue
        return
    raise AssertionError("nginx takes no connections")


def test_families_and_a_lost_server(fleet: Fleet) -> None:
    roots = [f"plan{number}" for number in range(12)]
    kept = {}
    for root in roots:
        story = Conversation().user(f"What is {root}?")
        first = fleet.keep(f"{root}/base", story)
        story = story.plus(first.reply.turn()).user("And?")
        forked = fleet.keep(f"{root}/fork", story, f"{root}/base")
        assert forked.outcome == "used"
        kept[root] = story.plus(forked.reply.turn()).user("Go on.")
    homes = {root: fleet.home(f"{root}/base") for root in roots}
    assert all(fleet.home(f"{root}/fork") is homes[root] for root in roots)
    assert len({server.url for server in homes.values()}) > 1, "all families are on one server"

    def ask(root: str) -> Answer:
        return fleet.client.ask(CHAT, kept[root], start=f"{root}/fork")

    answers = {root: ask(root) for root in roots}
    assert {answer.outcome for answer in answers.values()} == {"used"}
    lost = homes["plan0"]
    lost.end()
    for root in roots:
        answer = ask(root)
        expected = "unknown" if homes[root] is lost else "used"
        assert answer.ok and answer.outcome == expected, root
        # All three are the same model: an answer is right or it is not.
        assert answer.reply.text == answers[root].reply.text
    again = fleet.keep("plan0/fork", kept["plan0"], "plan0/fork")
    assert again.ok and again.outcome == "unknown"
    after = kept["plan0"].plus(again.reply.turn()).user("And then?")
    assert fleet.client.ask(CHAT, after, start="plan0/fork").outcome == "used"


def test_a_load_test_through_the_proxy(fleet: Fleet, tmp_path: Path) -> None:
    words = ("--replicas", "--users=4", "--iterations=2", "--forks=3", "--deterministic")
    done = load(tmp_path / "report", fleet.client.url, *words, "--twins=0.5", "--stop-time=5")
    assert done.code == 0, done.text
    assert done.results["with_sessions"]["used_share"] == 1.0
