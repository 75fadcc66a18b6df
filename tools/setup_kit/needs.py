"""What the machine must have before anything is installed, each miss said in one clear line."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

MIN_PYTHON = (3, 11)

Which = Callable[[str], "str | None"]

# What llama.cpp's build asks for: the variable that overrides the choice, and the usual names.
COMPILERS = (
    ("C++", "CXX", ("c++", "g++", "clang++")),
    ("C", "CC", ("cc", "gcc", "clang")),
)


def compiler(env: Mapping[str, str], variable: str, names: Sequence[str], which: Which) -> bool:
    """Whether a compiler is there: the one the variable names, or any of the usual ones."""
    chosen = env.get(variable, "").split()
    return any(which(name) for name in ([chosen[0]] if chosen else names))


def missing(
    version: tuple[int, ...],
    env: Mapping[str, str] = os.environ,
    which: Which = shutil.which,
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
) -> list[str]:
    """One line for each thing the machine lacks; empty when the set-up can begin."""
    lines = []
    if version < MIN_PYTHON:
        lines.append(
            f"Python 3.11 or newer is needed, this is {version[0]}.{version[1]} "
            f"({sys.executable}). Debian: apt-get install python3.11 python3.11-venv, then "
            "make PYTHON=python3.11 ..."
        )
    elif not (has_module("venv") and has_module("ensurepip")):
        lines.append(
            "Python's venv module is missing. Debian packs it apart: apt-get install python3-venv"
        )
    for language, variable, names in COMPILERS:
        if not compiler(env, variable, names, which):
            chosen = env.get(variable, "")
            found = f"{variable}={chosen} is not there" if chosen else f"none of {', '.join(names)}"
            lines.append(
                f"A {language} compiler is needed to build llama.cpp ({found}). "
                "Debian: apt-get install g++"
            )
    return lines
