"""What is said about a machine that lacks something."""

import pytest

from setup_kit.needs import missing

EVERYTHING = {"c++", "cc"}


def told(
    version: tuple[int, ...] = (3, 11),
    env: dict[str, str] | None = None,
    programs: set[str] = EVERYTHING,
    modules: set[str] | None = None,
) -> list[str]:
    has = {"venv", "ensurepip"} if modules is None else modules
    return missing(
        version,
        env or {},
        which=lambda name: name if name in programs else None,
        has_module=lambda name: name in has,
    )


def test_nothing_is_said_when_all_is_there() -> None:
    assert told() == []
    assert told(version=(3, 14)) == []


@pytest.mark.parametrize("programs", [{"clang++", "clang"}, {"g++", "gcc"}])
def test_any_usual_compiler_will_do(programs: set[str]) -> None:
    assert told(programs=programs) == []


def test_an_old_python() -> None:
    (line,) = told(version=(3, 10))
    assert "3.11 or newer is needed, this is 3.10" in line
    assert "apt-get install python3.11" in line


@pytest.mark.parametrize("modules", [{"venv"}, {"ensurepip"}])
def test_debian_without_venv(modules: set[str]) -> None:
    (line,) = told(modules=modules)
    assert "apt-get install python3-venv" in line


def test_no_compiler_is_one_line_for_each_language() -> None:
    cpp, c = told(programs=set())
    assert "A C++ compiler is needed" in cpp
    assert "apt-get install g++" in cpp
    assert "A C compiler is needed" in c


def test_the_compiler_that_was_chosen_must_be_there() -> None:
    (line,) = told(env={"CXX": "my-c++ -march=x"})
    assert "CXX=my-c++ -march=x is not there" in line
    assert told(env={"CXX": "my-c++ -march=x"}, programs=EVERYTHING | {"my-c++"}) == []
