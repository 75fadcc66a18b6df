"""The compiled llama-cpp-python: built once from its source package, then taken from a cache."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from setup_kit.command import Failed, run

HERE = Path(__file__).resolve().parent
CMAKE_FILE = HERE / "engine_only.cmake"

# The multimodal library is another fifty files that nothing here loads.
OUR_CMAKE_ARGS = "-DLLAVA_BUILD=OFF -DGGML_CCACHE=OFF"

# Everything that changes what the compiler makes of the same source.
BUILD_VARIABLES = ("CMAKE_ARGS", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS")


def cache_home(env: Mapping[str, str]) -> Path:
    """Where built wheels are kept: ``$XDG_CACHE_HOME/halogen-kit/wheels``, or under ~/.cache."""
    base = env.get("XDG_CACHE_HOME", "")
    # The XDG rule: a relative path is invalid and is to be ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "halogen-kit" / "wheels"


def processor() -> str:
    """What this machine's processor can do, as far as the system tells.

    llama.cpp is compiled for the very processor it is built on: a wheel from another one may die
    with an illegal instruction, and homes are shared between machines.
    """
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    wanted = ("flags", "Features", "isa")
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in wanted:
            return " ".join(sorted(value.split()))
    return platform.machine()


def key(version: str, env: Mapping[str, str], cpu: str) -> str:
    """The cache entry's name: the readable facts, and a hash of those too long to read."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    facts = [f"{name}={env.get(name, '')}" for name in BUILD_VARIABLES]
    facts += [OUR_CMAKE_ARGS, CMAKE_FILE.read_text(encoding="utf-8"), cpu, *platform.libc_ver()]
    digest = hashlib.sha256("\0".join(facts).encode()).hexdigest()[:12]
    return f"{version}-{python}-{system}-{digest}"


def cached(entry: Path) -> Path | None:
    """The whole wheel in a cache entry, or None. One that was cut short is not whole."""
    for wheel in sorted(entry.glob("llama_cpp_python-*.whl")):
        if zipfile.is_zipfile(wheel):
            return wheel
    return None


def forget(entry: Path) -> None:
    """Drop a cache entry that turned out not to work."""
    shutil.rmtree(entry, ignore_errors=True)


def build(version: str, entry: Path, *, python: Path, constraints: Path, log: Path) -> Path:
    """Compile llama-cpp-python ``version`` and put its wheel into the cache entry.

    Returns the wheel's path. Raises Failed with the end of the log when it does not build.
    """
    entry.parent.mkdir(parents=True, exist_ok=True)
    env = dict(os.environ)
    # The caller's own arguments come last, so that they win: CMAKE_ARGS="-DGGML_CUDA=ON" works.
    include = shlex.quote(f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={CMAKE_FILE}")
    ours = f"{OUR_CMAKE_ARGS} {include}"
    env["CMAKE_ARGS"] = f"{ours} {env.get('CMAKE_ARGS', '')}".strip()
    with tempfile.TemporaryDirectory(dir=entry.parent, prefix=".building-") as work:
        command = [str(python), "-m", "pip", "wheel", "--verbose", "--no-deps"]
        # pip's own cache does not look at CMAKE_ARGS and could answer with another build.
        command += ["--no-cache-dir", "--no-binary", "llama-cpp-python"]
        command += ["--build-constraint", str(constraints), "--wheel-dir", work]
        command += [f"llama-cpp-python=={version}"]
        run(command, label="Compiling llama.cpp", log=log, env=env)
        built = cached(Path(work))
        if built is None:
            raise Failed(f"pip said it built llama-cpp-python but left no wheel. Its log: {log}")
        # Into place in one step: a set-up that is stopped, or two at once, leave no half entry.
        entry.mkdir(exist_ok=True)
        return built.replace(entry / built.name)
