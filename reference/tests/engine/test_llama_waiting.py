"""How llama.cpp's threads wait: chosen for the server, unless its user has chosen."""

import os
import re
import subprocess
import sys

import pytest

from halogen_reference.engine.llama.waiting import SPINS, choose


def spins_of_a_server(chosen: dict[str, str]) -> int:
    """What OpenMP says it was told when the server's command line was loaded."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
    }
    run = subprocess.run(
        [sys.executable, "-c", "import halogen_reference.cli"],
        env={**inherited, **chosen, "OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = re.search(r"GOMP_SPINCOUNT = '(\d+)'", run.stderr)
    if said is None:
        pytest.skip("llama.cpp was built without GNU OpenMP")
    return int(said[1])


def test_the_server_spins_for_a_moment() -> None:
    assert spins_of_a_server({}) == SPINS


def test_the_users_choice_is_left() -> None:
    assert spins_of_a_server({"GOMP_SPINCOUNT": "7"}) == 7
    assert spins_of_a_server({"OMP_WAIT_POLICY": "passive"}) == 0


def test_a_choice_is_made_once() -> None:
    environment = {"OMP_WAIT_POLICY": "active"}
    choose(environment)
    assert environment == {"OMP_WAIT_POLICY": "active"}
    empty: dict[str, str] = {}
    choose(empty)
    assert empty == {"GOMP_SPINCOUNT": str(SPINS)}
