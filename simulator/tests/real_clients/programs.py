"""Vendors' programs, installed and run where they can reach nothing but this machine."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.332", "codex": "@openai/codex@0.171.0"}
KEY = "sk-example-key-of-no-account-0001"
PATIENCE_S = 120


@dataclass(frozen=True)
class Ended:
    """A program that has ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit code {self.code}\n{self.out[-4000:]}\n{self.err[-4000:]}"


def install(folder: Path) -> dict[str, Path]:
    """Install the packages with npm; the programs' paths. Fails with npm's own words."""
    npm = shutil.which("npm")
    assert npm, "make real-clients needs npm"
    done = subprocess.run(
        [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", *PACKAGES.values()],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"npm could not install {PACKAGES}:\n{done.stderr}"
    return {name: folder / "node_modules" / ".bin" / name for name in PACKAGES}


def environment(home: Path, **own: str) -> dict[str, str]:
    """Nothing of this process's environment but the paths of its programs: no account, no proxy,
    no setting. What is not on this machine goes to a proxy that is not there."""
    nowhere = "http://127.0.0.1:9"
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "ALL_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1,localhost",
        **own,
    }


def run(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> Ended:
    """Run to the end in a process group of its own, which is ended whatever it left running."""
    process = subprocess.Popen(
        command,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        end_group(process.pid)
        out, err = process.communicate(timeout=20)
        raise AssertionError(f"{command} did not end: {Ended(-1, out, err)}") from None
    finally:
        end_group(process.pid)
    return Ended(process.returncode, out, err)


def end_group(group: int) -> None:
    """End a process group of ours, if there is anything left of it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def end_those_of(folder: Path) -> list[str]:
    """End what runs from a folder of ours and has left its process group; what that was."""
    ended = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if process.pid != os.getpid() and any(str(folder) in word for word in words):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
                ended.append(" ".join(words))
    return ended
