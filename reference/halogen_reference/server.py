"""What the routes share: the engine, the sessions, the metrics and the settings, made once."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from halogen_reference.engine.protocol import Engine
from halogen_reference.errors import RequestError
from halogen_reference.metrics import Metrics
from halogen_reference.sessions.names import NameTable
from halogen_reference.sessions.sessions import Sessions
from halogen_reference.sessions.start import Tokens
from halogen_reference.settings import Settings


@dataclass(frozen=True, slots=True)
class Server:
    """Everything a request meets."""

    engine: Engine
    sessions: Sessions
    metrics: Metrics
    settings: Settings

    @property
    def model_id(self) -> str:
        """The name the model is listed under."""
        return (self.settings.model_ids or (self.engine.model_id,))[0]

    def check_model(self, name: str) -> None:
        """Any name is answered unless ``HALOGEN_MODEL_ID`` lists some: programs have names of
        their own for the models they ask. Raises RequestError 404."""
        served = self.settings.model_ids
        if served and name not in served:
            message = f"there is no model {name!r} here; GET /v1/models lists what there is"
            raise RequestError(404, message, "model", "model_not_found")


def build(engine: Engine, settings: Settings, clock: Callable[[], float] = time.time) -> Server:
    """Put a server together. ``clock`` gives Unix seconds; tests turn it."""
    table = NameTable(ttl=settings.fork_ttl, cap=settings.fork_handles, clock=clock)
    engine.on_pressure(table.release_least_recent)
    sessions = Sessions(table, Tokens(engine.encode, engine.piece))
    return Server(engine, sessions, Metrics(engine.pool, table.__len__), settings)
