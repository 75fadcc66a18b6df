"""What the routes share: the engine, the sessions, the metrics and the settings, made once."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from halogen_reference.engine.protocol import Engine
from halogen_reference.errors import RequestError
from halogen_reference.metrics import Metrics
from halogen_reference.sessions.names import NameTable
from halogen_reference.sessions.sessions import Sessions
from halogen_reference.sessions.start import Tokens
from halogen_reference.sessions.store import FolderInUse, Store
from halogen_reference.sessions.threads import Threads
from halogen_reference.settings import SettingError, Settings


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

    def check_model(self, name: str | None) -> str:
        """The name an answer repeats. Any is answered unless ``HALOGEN_MODEL_ID`` lists some:
        programs have names of their own for the models they ask. Raises RequestError 404."""
        served = self.settings.model_ids
        if name is None:
            return self.model_id
        if served and name not in served:
            message = f"there is no model {name!r} here; GET /v1/models lists what there is"
            raise RequestError(404, message, "model", "model_not_found")
        return name


def build(engine: Engine, settings: Settings, clock: Callable[[], float] = time.time) -> Server:
    """Put a server together. ``clock`` gives Unix seconds; tests turn it.

    Raises SettingError when the cache folder cannot be used.
    """
    store = _store(engine, settings)
    table = NameTable(ttl=settings.fork_ttl, cap=settings.fork_handles, clock=clock, witness=store)
    engine.on_pressure(table.give_memory)
    threads = Threads(table, store.secret() if store else secrets.token_bytes(32))
    sessions = Sessions(table, threads, Tokens(engine.encode, engine.piece), store)
    return Server(engine, sessions, Metrics(engine.pool, table.__len__), settings)


def _store(engine: Engine, settings: Settings) -> Store | None:
    if not settings.fork or settings.cache_dir is None:
        return None
    try:
        return Store(settings.cache_dir, settings.cache_bytes, engine)
    except FolderInUse as error:
        raise SettingError(str(error)) from None
    except OSError as error:
        raise SettingError(
            f"HALOGEN_CACHE_DIR={settings.cache_dir} cannot be used ({error.strerror}): "
            "give it a folder that this user may write to"
        ) from None
