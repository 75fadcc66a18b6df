"""Several processes at one transcript: no line is lost or torn, and no id comes twice."""

import re
import subprocess
import sys
from pathlib import Path

from halogen_simulator.harness.journal import OLD_FILES, Journal
from halogen_simulator.harness.transcript import Transcript
from tests.harness.made import message

EACH = 150
# The limit makes them rotate all the time, each at its own moments.
WRITER = f"""
import sys
from pathlib import Path
from halogen_simulator.harness import journal as journals
from halogen_simulator.harness.record import Message, Text
journals.ROTATE_AFTER = 4000
path, name = Path(sys.argv[1]), sys.argv[2]
journal = journals.Journal(path)
transcript = journal.load().transcript
print("ready", flush=True)
sys.stdin.readline()
for n in range({EACH}):
    text = f"{{name}} {{n}} " + "x" * (n % 97)
    message = Message(role="user", blocks=(Text(text=text),))
    transcript.add(message)
    journal.append(transcript, message)
    print(n, flush=True)
"""
IDS = """
from halogen_simulator.harness import transcript
transcript.now_ms = lambda: 5
print(*[transcript.new_id() for _ in range(2000)], sep="\\n")
"""


def started(*arguments: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", *arguments], stdin=pipe, stdout=pipe, text=True)


def ready(process: "subprocess.Popen[str]") -> None:
    assert process.stdout and process.stdout.readline() == "ready\n"


def numbers(path: Path, name: str) -> list[int]:
    texts = (one.text for one in Journal(path).load().transcript.messages)
    found = (re.match(rf"{name} (\d+) ", text) for text in texts)
    return [int(one[1]) for one in found if one]


def begun(path: Path) -> None:
    transcript = Transcript.new()
    transcript.add(message("first"))
    Journal(path).write(transcript)


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    begun(path)
    writers = [started(WRITER, str(path), name) for name in ("one", "two")]
    for writer in writers:
        ready(writer)
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    loaded = Journal(path).load()
    assert loaded.warnings == ()
    assert len(loaded.transcript.messages) == 1 + 2 * EACH
    for name in ("one", "two"):
        assert numbers(path, name) == list(range(EACH))
    assert 1 <= len(Journal(path).old_files()) <= OLD_FILES


def test_a_writer_that_is_killed(tmp_path: Path) -> None:
    """What it said it had written is there, in order; whoever comes next writes on."""
    path = tmp_path / "a.jsonl"
    begun(path)
    writer = started(WRITER, str(path), "one")
    ready(writer)
    assert writer.stdin and writer.stdout
    writer.stdin.write("go\n")
    writer.stdin.flush()
    for _ in range(EACH // 2):
        told = int(writer.stdout.readline())
    writer.kill()
    writer.communicate(timeout=60)
    found = numbers(path, "one")
    assert found == list(range(len(found))) and len(found) > told
    again = Journal(path)
    transcript = again.load().transcript
    transcript.add(message("after"))
    again.append(transcript, transcript.messages[-1])
    assert Journal(path).load().transcript.messages[-1].text == "after"


def test_ids_of_one_millisecond_in_two_processes() -> None:
    both = [started(IDS) for _ in range(2)]
    ids = [one for process in both for one in process.communicate(timeout=60)[0].split()]
    assert len(ids) == len(set(ids)) == 4000
