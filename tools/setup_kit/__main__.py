"""``python -m setup_kit --extras reference,dev``: everything the project needs, in ``.venv``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from setup_kit import engine_wheel, needs
from setup_kit.command import Failed
from setup_kit.venv import Venv, pinned

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"

# What builds the project itself. It is installed first, at its pinned version, because pip's own
# isolated build environments do not look at the constraints file.
BUILDERS = ("pip", "hatchling", "editables")

BUILD_NOTICE = """\
llama.cpp will now be compiled for this machine's processor (llama-cpp-python {version} comes as
source only). This is done once and takes 2 to 3 minutes on two cores; the result is kept in
{cache}
and a later set-up on this machine takes it from there."""


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def install_engine(venv: Venv, env: dict[str, str]) -> None:
    """llama-cpp-python into the environment, out of the cache if a build of it is there."""
    version = pinned(CONSTRAINTS, "llama-cpp-python")
    key = engine_wheel.key(version, env, engine_wheel.processor())
    # One that somebody installed by hand (key unknown) is theirs to keep, while it works.
    if venv.engine_key() in (key, None) and venv.engine_works(version):
        return
    entry = engine_wheel.cache_home(env) / key
    wheel = engine_wheel.cached(entry)
    if wheel is not None:
        say(f"llama.cpp: using the build kept in {entry}")
        put_engine(venv, wheel, env)
        if venv.engine_works(version):
            venv.remember_engine(key)
            return
        say("llama.cpp: that build does not work here; building it again.")
        engine_wheel.forget(entry)
    say(BUILD_NOTICE.format(version=version, cache=entry.parent))
    log = venv.logs / "llama-cpp-build.log"
    wheel = engine_wheel.build(version, entry, python=venv.python, constraints=CONSTRAINTS, log=log)
    put_engine(venv, wheel, env)
    if not venv.engine_works(version):
        engine_wheel.forget(entry)
        raise Failed(f"llama.cpp was built but cannot be loaded. The build's log: {log}")
    venv.remember_engine(key)


def put_engine(venv: Venv, wheel: Path, env: dict[str, str]) -> None:
    """Install a built wheel, whatever of that version is installed already."""
    what = ["--force-reinstall", "--no-deps", str(wheel)]
    venv.install(what, label="Installing llama.cpp", log="engine-install.log", env=env)
    # --force-reinstall would reinstall what it needs too, so that comes apart.
    what = ["--constraint", str(CONSTRAINTS), str(wheel)]
    venv.install(what, label="Installing what it needs", log="engine-needs.log", env=env)


def set_up(venv: Venv, extras: str, python: str) -> None:
    """Bring ``venv`` to the pinned versions of the project's ``extras``. Raises Failed."""
    env = dict(os.environ)
    venv.make(python, env)
    pins = ["--constraint", str(CONSTRAINTS)]
    venv.install(
        [*pins, *BUILDERS], label="Installing pip and the builders", log="builders.log", env=env
    )
    install_engine(venv, env)
    project = ["--no-build-isolation", "--editable", f"{ROOT}[{extras}]"]
    venv.install(
        [*pins, *project], label=f"Installing the kit [{extras}]", log="install.log", env=env
    )


def main() -> int:
    """Set up what the arguments name. Returns the exit code: 1 for a failure, 130 for Ctrl-C."""
    parser = argparse.ArgumentParser(prog="setup_kit", description=__doc__)
    parser.add_argument("--extras", required=True, help="the parts to set up, comma separated")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv", help="where to put them")
    options = parser.parse_args()
    lacking = needs.missing(tuple(sys.version_info[:2]))
    if lacking:
        print("The set-up cannot start:", *lacking, sep="\n  ", file=sys.stderr)
        return 1
    try:
        set_up(Venv(options.venv), options.extras, sys.executable)
    except Failed as error:
        print(f"\nThe set-up failed. {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nThe set-up was stopped. Run it again to go on.", file=sys.stderr)
        return 130
    say(f"Ready: {options.venv}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
