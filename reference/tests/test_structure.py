"""The shape of the whole tree: who may import whom, how long a file may be, what no file holds."""

import ast
import graphlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("reference", "simulator", "conformance", "loadtest")
MAX_LINES = 320

DRIVERS = "halogen_conformance.drivers"

# What a part's package may import of the other parts.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "halogen_reference": (),
    "halogen_conformance": (),
    "halogen_simulator": ("halogen_reference", DRIVERS),
    "halogen_loadtest": (DRIVERS,),
}

# Inside the reference, data flows one way: http -> dialects -> sessions -> engine. Sessions know
# the engine by its protocol only; whoever starts the server chooses the implementation.
DIALECTS = "halogen_reference.dialects"
SESSIONS = "halogen_reference.sessions"
ENGINE = "halogen_reference.engine"
LLAMA = "halogen_reference.engine.llama"
OUTSIDE = ("halogen_reference.http", "halogen_reference.server", "halogen_reference.cli")
NETWORK = ("starlette", "uvicorn", "httpx")
MAY_NOT_IMPORT: dict[str, tuple[str, ...]] = {
    DIALECTS: (*OUTSIDE, SESSIONS, ENGINE, *NETWORK, "llama_cpp"),
    SESSIONS: (*OUTSIDE, DIALECTS, LLAMA, *NETWORK, "llama_cpp"),
    ENGINE: (*OUTSIDE, DIALECTS, SESSIONS, *NETWORK),
}

# Put together from pieces, so that this file does not hold what it looks for.
SLASH = "/"
TRACES = {
    "a path of somebody's machine": re.compile(
        rf"(?<![\w.])(?:{SLASH}(?:work|root)|{SLASH}(?:home|Users){SLASH}[a-z]\w*|{SLASH}tmp){SLASH}\w"
    ),
    "the host of a package index": re.compile(
        r"\b(?:pypi|pythonhosted|npmjs|yarnpkg|debian|crates|rubygems)" + r"\.(?:org|com|io|net)\b"
    ),
}


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def imports_of(source: str, module: str = "", *, is_package: bool = False) -> set[str]:
    """Every module a file imports, by its full name; ``from a import b`` is ``a`` and ``a.b``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")
                up = node.level - (1 if is_package else 0)
                base = ".".join([*parents[: len(parents) - up], *([base] if base else [])])
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return found


def modules_of(part: str) -> dict[str, Path]:
    """Module name -> file, for a part's package."""
    home = ROOT / part
    named = {}
    for path in sorted((home / f"halogen_{part}").rglob("*.py")):
        names = path.relative_to(home).with_suffix("").parts
        named[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return named


def read_imports(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    return {
        name: imports_of(path.read_text("utf-8"), name, is_package=path.name == "__init__.py")
        for name, path in modules.items()
    }


def wrong_between_parts(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Imports of another part that MAY_IMPORT does not list."""
    wrong = []
    for module, imported in imports.items():
        own = module.split(".")[0]
        for name in imported:
            package = name.split(".")[0]
            if package not in MAY_IMPORT or package == own:
                continue
            # `from halogen_conformance import drivers` also counts as its bare package.
            allowed = any(within(name, ok) or within(ok, name) for ok in MAY_IMPORT[own])
            if not allowed:
                wrong.append(f"{module} imports {name}")
    return sorted(wrong)


def wrong_inside(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """Imports against the one way that data flows."""
    return sorted(
        f"{module} imports {name}"
        for module, imported in imports.items()
        for layer, banned in MAY_NOT_IMPORT.items()
        if within(module, layer)
        for name in imported
        if any(within(name, ban) for ban in banned)
    )


def cycle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    """A circle of modules that import each other, or nothing."""
    # A package's own __init__ is loaded before its modules whatever they import: no edge to it.
    graph = {
        module: {
            name
            for name in imported
            if name in imports and name != module and not within(module, name)
        }
        for module, imported in imports.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def too_long(path: Path) -> bool:
    return len(path.read_text("utf-8").splitlines()) > MAX_LINES


def traces(text: str) -> list[str]:
    """What a file's text gives away, each with its line."""
    return [
        f"line {number}: {what}: {found[0]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in TRACES.items()
        if (found := pattern.search(line))
    ]


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """Every file of the project: what git tracks, and what it would track."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout.split("\0")
    found = [ROOT / name for name in sorted(set(listed)) if name and (ROOT / name).is_file()]
    assert ROOT / "pyproject.toml" in found
    return found


@pytest.mark.parametrize("part", PARTS)
def test_imports_point_one_way(part: str) -> None:
    imports = read_imports(modules_of(part))
    assert f"halogen_{part}" in imports
    assert wrong_between_parts(imports) == []
    assert wrong_inside(imports) == []


def test_layers_are_there() -> None:
    """A module renamed must be renamed in the tables above, or they would guard nothing."""
    named = {*MAY_NOT_IMPORT, *(name for names in MAY_NOT_IMPORT.values() for name in names)}
    ours = {name for name in named if name.startswith("halogen_")}
    assert ours - read_imports(modules_of("reference")).keys() == set()
    assert DRIVERS in modules_of("conformance")


@pytest.mark.parametrize("part", PARTS)
def test_imports_have_no_circle(part: str) -> None:
    assert cycle(read_imports(modules_of(part))) == []


def test_files_are_short(files: list[Path]) -> None:
    long = [str(path.relative_to(ROOT)) for path in files if path.suffix == ".py" if too_long(path)]
    assert not long, f"over {MAX_LINES} lines, so each holds a second noun: {', '.join(long)}"


def test_there_are_no_drawers(files: list[Path]) -> None:
    drawers = [str(path) for path in files if path.stem in ("utils", "util", "helpers", "misc")]
    assert not drawers, f"name each after what it holds: {', '.join(drawers)}"


def test_files_give_nothing_away(files: list[Path]) -> None:
    found = {}
    for path in files:
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue  # pictures and the like
        if given := traces(text):
            found[str(path.relative_to(ROOT))] = given
    assert found == {}


# The checks themselves: each is shown a breach, so that a green run means something.


@pytest.mark.parametrize(
    ("module", "imported", "fine"),
    [
        ("halogen_reference.app", "halogen_simulator.engine", False),
        ("halogen_conformance.run", "halogen_reference.errors", False),
        ("halogen_simulator.app", "halogen_reference.app", True),
        ("halogen_simulator.agent", "halogen_conformance.drivers.chat", True),
        ("halogen_simulator.agent", "halogen_conformance.verdict", False),
        ("halogen_loadtest.users", "halogen_conformance.drivers.chat", True),
        ("halogen_loadtest.users", "halogen_reference.errors", False),
        ("halogen_loadtest.users", "httpx", True),
    ],
)
def test_check_of_parts(module: str, imported: str, fine: bool) -> None:
    assert (wrong_between_parts({module: {imported}}) == []) is fine


@pytest.mark.parametrize(
    ("module", "imported", "fine"),
    [
        ("halogen_reference.engine.llama.engine", "starlette.requests", False),
        ("halogen_reference.dialects.chat", "halogen_reference.sessions.names", False),
        ("halogen_reference.sessions.start", "halogen_reference.engine.llama.model", False),
        ("halogen_reference.sessions.start", "halogen_reference.engine.protocol", True),
        ("halogen_reference.http.app", "halogen_reference.dialects.chat", True),
    ],
)
def test_check_of_layers(module: str, imported: str, fine: bool) -> None:
    assert (wrong_inside({module: {imported}}) == []) is fine


def test_check_of_circles() -> None:
    assert cycle({"p.a": {"p.b"}, "p.b": {"p", "p.a"}, "p": set()})
    assert not cycle({"p.a": {"p", "p.b"}, "p.b": set(), "p": {"p.a", "p.b"}})


def test_check_of_relative_imports() -> None:
    assert "p.q.b" in imports_of("from .b import x", "p.q.a")
    assert "p.b" in imports_of("from ..b import x", "p.q.a")
    assert "p.q.b" in imports_of("from . import b", "p.q", is_package=True)


@pytest.mark.parametrize(
    ("text", "given_away"),
    [
        (f"open('{SLASH}work{SLASH}main')", True),
        (f"see {SLASH}home{SLASH}ann{SLASH}notes", True),
        (f"cd {SLASH}tmp{SLASH}x", True),
        ("index = https:/" + "/pypi" + ".org/simple", True),
        ("GET /v1/models, 1/8731, network/work/x, /tmp itself", False),
        ("pip install pypi-attestations", False),
    ],
)
def test_check_of_traces(text: str, given_away: bool) -> None:
    assert bool(traces(text)) is given_away


def test_check_of_length(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_text("x = 1\n" * MAX_LINES)
    assert not too_long(file)
    file.write_text("x = 1\n" * (MAX_LINES + 1))
    assert too_long(file)
