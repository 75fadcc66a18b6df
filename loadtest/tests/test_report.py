"""report.html and what lies beside it, of a run made by hand; in a real browser if there is one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from halogen_loadtest.judge.invariants import INVARIANTS
from halogen_loadtest.judge.violation import Violation
from halogen_loadtest.ledger import Gauge
from halogen_loadtest.options import Settings
from halogen_loadtest.record import FIELDS, Record
from halogen_loadtest.report.chart import nice, short
from halogen_loadtest.report.markup import tag
from halogen_loadtest.report.page import render
from halogen_loadtest.report.timeline import chosen
from halogen_loadtest.report.written import write
from halogen_loadtest.result import Result
from halogen_loadtest.summary import Held, Worker, figures
from halogen_loadtest.verdict import Exit, Verdict

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
EVIL = "</pre><script>alert(1)</script>\u202e"
BEGAN = 1_000_000.0


def record(at: float, group: str, lane: str, *, sessions: bool = True, slow: float = 1.0) -> Record:
    values = {
        "at": BEGAN + at,
        "step": "fork",
        "sessions": sessions,
        "route": "chat",
        "status": 200,
        "result": "answered",
        "outcome": "used" if sessions else "",
        "meant": sessions,
        "headers": 0.1 * slow,
        "first": 0.3 * slow,
        "seconds": 1.0 * slow,
        "pieces": 8,
        "gap": 0.1,
        "widest": 0.2,
        "prompt": 1000,
        "cached": 900 if sessions else 0,
        "output": 8,
        "group": group,
        "lane": lane,
        "twin": False,
    }
    return Record(**values)  # type: ignore[arg-type]


RECORDS = [
    *(record(1.0, "g1", str(n)) for n in range(8)),
    *(record(5.0, "g2", str(n), slow=2.0) for n in range(8)),
    *(record(9.0, "g3", str(n), slow=1.5) for n in range(40)),
    *(record(15.0, "g4", str(n), sessions=False, slow=4.0) for n in range(8)),
]


def result() -> Result:
    return Result(
        target="http://127.0.0.1:8731",
        settings=Settings(compare=True),
        users=3,
        began=BEGAN,
        ended=BEGAN + 20,
        phases=[(BEGAN, True), (BEGAN + 12, False)],
        verdict=Verdict(Exit.DOES_NOT, (f"broken: {EVIL}",)),
        with_sessions=figures(RECORDS, sessions=True),
        without=figures(RECORDS, sessions=False),
        invariants=[Held(one, 10, int(one.id == "twin")) for one in INVARIANTS.values()],
        violations=[
            Violation("twin", EVIL, EVIL, "fork", BEGAN, sent=EVIL, got="x" * 5000, script=EVIL)
        ],
        workers=[Worker("process 1", 40.0, 60.0, 10**8)],
        generators=[(BEGAN + at, 40.0, 8) for at in range(20)],
        most_open=24,
        gauges=[Gauge(BEGAN + at, 3, {"halogen_kv_cells_used": 500.0}) for at in range(20)],
        records=RECORDS,
        counts={"judged": len(RECORDS)},
        notes=["a note"],
    )


def test_figures() -> None:
    both = [figures(RECORDS, sessions=True), figures(RECORDS, sessions=False)]
    assert both[0] is not None and both[1] is not None
    assert both[0].requests == 56 and both[0].used_share == 1.0
    assert both[0].saved == pytest.approx(0.9) and both[1].saved == 0.0
    assert both[0].wall.p50 == pytest.approx(1.5) and both[0].wall.most == pytest.approx(2.0)
    assert both[1].ttft.p95 == pytest.approx(1.2) and both[1].used_share is None
    assert figures([], sessions=True) is None


def test_the_timelines_that_are_chosen() -> None:
    picks = chosen(RECORDS, sessions=True)
    assert [(word, lanes[0].group) for word, lanes in picks] == [
        ("first", "g1"),
        ("typical", "g3"),
        ("slowest", "g2"),
    ]
    assert [word for word, _ in chosen(RECORDS[:8], sessions=True)] == ["first"]
    assert chosen([], sessions=True) == []


def test_foreign_text_stays_text() -> None:
    page = render(result())
    assert "<script" not in page and "\u202e" not in page
    assert page.count("&lt;/pre&gt;&lt;script&gt;") >= 4
    assert tag("p", EVIL, title='"') == (
        '<p title="&quot;">&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u202e</p>'
    )


def test_the_page_holds_what_it_should() -> None:
    page = render(result())
    assert not re.findall(r"(?:src|href)=", page), "a report must need no other file"
    for words in (
        "Time to first token",
        "Outcomes",
        "Prompt tokens",
        "slowest, with sessions: 2.00 s",
        "first, without: 4.00 s",
        "8 more lanes are not drawn",
        "KV cells in use",
        "Repeat it with curl",
        "1 of 10",
    ):
        assert words in page, words


def test_files(tmp_path: Path) -> None:
    write(result(), tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    data = json.loads((folder / "results.json").read_text("utf-8"))
    assert data["exit_code"] == 1 and data["with_sessions"]["used_share"] == 1.0
    assert data["invariants"]["twin"]["verdict"] == "BROKEN"
    lines = (folder / "exchanges.csv").read_text("utf-8").splitlines()
    assert lines[0] == ",".join(FIELDS) and len(lines) == 1 + len(RECORDS)
    assert (folder / "repro-01-twin.sh").exists()


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.3, 0.5), (1, 1), (1.2, 2), (37, 50), (99, 100), (501, 1000)]
)
def test_axes_end_at_round_numbers(value: float, top: float) -> None:
    assert nice(value) == pytest.approx(top)


def test_short_numbers() -> None:
    assert [short(v) for v in (0.25, 40, 1200, 3e6)] == ["0.25", "40", "1.2k", "3M"]


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_the_screen(width: int, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    (tmp_path / "report.html").write_text(render(result()), "utf-8")
    (tmp_path / "frame.html").write_text(FRAME % width, "utf-8")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--virtual-time-budget=5000",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            (tmp_path / "frame.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = re.search(r'<pre id="found">([^<]+)</pre>', done.stdout)
    assert found, done.stderr[-2000:]
    assert json.loads(found[1]) == {"overflow": 0, "pictures": 12, "empty": 0}


FRAME = """<!doctype html><body>
<iframe id="f" src="report.html" style="width:%dpx;height:900px;border:0"></iframe>
<pre id="found"></pre><script>
document.getElementById("f").onload = (event) => {
  const page = event.target.contentDocument;
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  const root = page.scrollingElement;
  const pictures = [...page.querySelectorAll("svg")];
  document.getElementById("found").textContent = JSON.stringify({
    overflow: root.scrollWidth - root.clientWidth,
    pictures: pictures.length,
    empty: pictures.filter((one) => one.getBoundingClientRect().height < 40).length,
  });
};
</script>"""
