"""The files that hold the house together agree: dependencies, pins, make targets, documents."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from setup_kit.__main__ import BUILDERS

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\d[A-Za-z0-9.]*)$")


def pins() -> dict[str, str]:
    """Canonical package name -> exact version, from constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    found = [PIN.match(line) or line for line in lines if not line.startswith("#")]
    assert [line for line in found if isinstance(line, str)] == [], "name==version and no more"
    return {canonicalize_name(match[1]): match[2] for match in found if not isinstance(match, str)}


def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        read: dict[str, Any] = tomllib.load(file)["project"]
    return read


def dependencies() -> list[tuple[str, str]]:
    """(extra, requirement), for each that pyproject.toml names."""
    extras = project()["optional-dependencies"].items()
    return [(extra, requirement) for extra, listed in extras for requirement in listed]


def targets() -> dict[str, str]:
    """Make target -> its help line."""
    text = (ROOT / "Makefile").read_text("utf-8")
    return dict(re.findall(r"^([a-z][a-z-]*):[^=\n]*?(?:## (.*))?$", text, re.MULTILINE))


@pytest.mark.parametrize(("extra", "requirement"), dependencies())
def test_every_dependency_has_a_pin_in_its_range(extra: str, requirement: str) -> None:
    wanted = Requirement(requirement)
    pin = pins().get(canonicalize_name(wanted.name))
    assert pin is not None, f"{wanted.name} of extra {extra} is not in constraints.txt"
    assert wanted.specifier.contains(pin), f"{wanted.name} is pinned to {pin}"


def test_what_builds_the_project_and_the_engine_has_a_pin() -> None:
    assert {*BUILDERS, "scikit-build-core", "cmake", "ninja"} <= pins().keys()


def test_the_project_does_not_pin_itself() -> None:
    assert "halogen-sessions-kit" not in pins()


def test_pins_are_sorted_and_named_once() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    names = [canonicalize_name(line.split("==")[0]) for line in lines if not line.startswith("#")]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_each_part_with_a_command_line_has_its_command() -> None:
    parts = ("reference", "simulator", "conformance", "loadtest")
    there = [part for part in parts if (ROOT / part / f"halogen_{part}" / "cli.py").exists()]
    wanted = {f"halogen-{part}": f"halogen_{part}.cli:main" for part in there}
    assert project()["scripts"] == wanted


def test_every_target_has_a_help_line() -> None:
    assert {"help", "setup", "demo", "bench", "test", "lint", "format", "soak"} <= targets().keys()
    assert [name for name, line in targets().items() if not line] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_only_targets_that_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    named = set(re.findall(r"(?:^|`)(?:\$ )?make ([a-z][a-z-]*)", text, re.MULTILINE))
    assert named
    assert named <= targets().keys()


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_documents_link_to_files_that_are_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    assert [link for link in links if not (ROOT / link).exists()] == []
