"""A simulator as the matrix knows it: lists faults and serves with one. It serves the fake server.

python fake_simulator.py faults --json
python fake_simulator.py serve --port PORT [--token-s S] [--fault ID]
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

FAULTS = {
    "empty-list": (["LIST-1"], "The list is empty."),
    "never-unknown": (["FROM-5"], "No name is unknown."),
    "no-fault-at-all": (["LIST-1"], "Nothing is wrong."),
}


def main() -> None:
    if sys.argv[1] == "faults":
        rows = [
            {"id": name, "breaks": breaks, "sentence": sentence}
            for name, (breaks, sentence) in FAULTS.items()
        ]
        print(json.dumps(rows))
        return
    words = dict(zip(sys.argv[2::2], sys.argv[3::2], strict=True))
    server = str(Path(__file__).with_name("fake_server.py"))
    faults = [words["--fault"]] if words.get("--fault") else []
    os.execv(sys.executable, [sys.executable, server, words["--port"], *faults])


if __name__ == "__main__":
    main()
