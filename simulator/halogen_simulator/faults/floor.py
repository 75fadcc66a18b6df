"""Servers that do not take part at all: no suite may pass these."""

from typing import Any

from halogen_simulator.faults.fault import Fault
from halogen_simulator.faults.wire import FROM, KEEP, LIST, Answered, Asked, Edit, without

ALL = ("KEEP-1", "FROM-1", "FROM-2", "LIST-1")


def _ok(asked: Asked) -> tuple[int, Any]:
    return 200, {"status": "ok"}


def _not_found(asked: Asked) -> tuple[int, Any]:
    return 404, {"error": {"message": "not found", "type": "x", "param": None, "code": None}}


def _pretend() -> Edit:
    names: dict[str, None] = {}

    def ask(asked: Asked) -> tuple[int, Any] | None:
        if asked.path == LIST and asked.server.settings.fork:
            rows = [{"name": name} for name in names]
            return 200, {"object": "list", "data": rows, "max_handles": 8, "ttl_s": 600}
        asked.state["keep"], asked.state["from"] = asked.header(KEEP), asked.header(FROM)
        asked.headers = without(asked.headers, KEEP, FROM)
        return None

    def answer(asked: Asked, answered: Answered) -> None:
        if not asked.is_reply or not asked.server.settings.fork or answered.status != 200:
            return
        if asked.state["from"] is not None:
            answered.headers.append((FROM, b"used"))
        if asked.state["keep"] is not None:
            answered.headers.append((KEEP, b"accepted"))
            names[asked.state["keep"]] = None

    return Edit(ask=ask, answer=answer)


FAULTS = (
    Fault("always-200", ALL, "Answers every request with 200 and no reply.", app=Edit(ask=_ok)),
    Fault("always-404", ALL, "Answers every request with 404.", app=Edit(ask=_not_found)),
    Fault(
        "cosmetic",
        ("FROM-7", "FROM-4", "FROM-5"),
        "Acknowledges every header and lists every name, and does nothing.",
        app=lambda app, server: _pretend()(app, server),
    ),
)
