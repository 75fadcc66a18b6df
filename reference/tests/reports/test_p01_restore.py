"""P01: a restored state says it is there, and then all is read again; or it is another model's."""

from pathlib import Path

from tests.protocol.client import Kept, Talk, check_not_used, check_used
from tests.protocol.histories import asking
from tests.protocol.routes import ROUTES, Route
from tests.restart.comeback import Comeback


def test_p01_what_is_restored_is_used_and_only_where_it_belongs(
    engine: str, tmp_path: Path, route: Route
) -> None:
    comeback = Comeback(engine, tmp_path, {"HALOGEN_CACHE_DIR": str(tmp_path)})
    try:
        talk = by(route, comeback.start())
        kept = [talk.kept(name, asking(f"What is {name}?")) for name in ("fog", "foam")]
        for one in kept:
            check_used(talk, one, one.then("Why?"))
        comeback.stop()
        # Restored: used, cheap and equal to the twin, each of the two.
        talk = by(route, comeback.start())
        for one in kept:
            check_used(talk, one, one.then("Why?"))
        comeback.stop()
        # Other settings: another server's state.
        check_unknown(by(route, comeback.start(HALOGEN_CTX="1024")), kept)
    finally:
        comeback.end()


def test_p01_another_models_state_is_unknown(tmp_path: Path, route: Route) -> None:
    """Another seed is another model: other words, and another fingerprint."""
    comeback = Comeback("simulator", tmp_path, {"HALOGEN_CACHE_DIR": str(tmp_path)})
    try:
        talk = by(route, comeback.start())
        kept = [talk.kept(name, asking(f"What is {name}?")) for name in ("fog", "foam")]
        comeback.stop()
        comeback.command += ["--seed", "7"]
        check_unknown(by(route, comeback.start()), kept)
    finally:
        comeback.end()


def by(route: Route, talk: Talk) -> Talk:
    """The same server by another route."""
    assert route in ROUTES.values()
    return Talk(talk.server, route, stream=False)


def check_unknown(talk: Talk, kept: list[Kept]) -> None:
    for one in kept:
        check_not_used(talk, "unknown", one.then("Why?"), one.name)
    assert not talk.server.handles()
