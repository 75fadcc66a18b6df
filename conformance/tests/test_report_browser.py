"""report.html in a real browser: it fits a phone, filters, opens exchanges, prints, obeys nobody.

Skipped where no Chromium is installed (Debian: apt-get install chromium).
"""

from __future__ import annotations

import html as entities
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from halogen_conformance.report import html
from halogen_conformance.run import collect
from halogen_conformance.stream import read_lines

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
GOLDEN = Path(__file__).parent / "golden"

# A page of the same origin that holds the report in a frame of the wanted width, uses it like a
# reader and writes down what it found.
HARNESS = """<!doctype html><body><iframe id="f" style="width:%dpx;height:900px;border:0"></iframe>
<pre id="found"></pre><script>
const frame = document.getElementById("f");
frame.onload = () => {
  const page = frame.contentDocument, found = {}, view = frame.contentWindow;
  const rows = () => [...page.querySelectorAll(".req")].filter((r) => !r.hidden).map((r) => r.id);
  const button = (name) => page.querySelector(`[data-filter=${name}]`);
  found.overflow = page.scrollingElement.scrollWidth - page.scrollingElement.clientWidth;
  found.all = rows();
  button("fail").click();
  found.fail = rows();
  button("warn").click();
  found.failAndWarn = rows();
  button("fail").click(); button("warn").click();
  found.again = rows();
  const find = page.getElementById("find");
  find.value = "HANG UP on purpose".slice(0, 4) + "_up";
  find.dispatchEvent(new view.Event("input"));
  found.search = rows();
  find.value = "no such text anywhere";
  find.dispatchEvent(new view.Event("input"));
  found.none = !page.getElementById("none").hidden;
  find.value = "";
  find.dispatchEvent(new view.Event("input"));
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  setTimeout(() => {
    found.exchanges = page.querySelectorAll(".exchange").length;
    found.text = [...page.querySelectorAll(".exchange")].map((e) => e.textContent).join("\\n");
    found.foreign = page.querySelectorAll(".exchange script, .exchange img").length;
    found.openOverflow = page.scrollingElement.scrollWidth - page.scrollingElement.clientWidth;
    found.hacked = Boolean(view.hacked || window.hacked);
    document.getElementById("found").textContent = JSON.stringify(found);
  }, 300);
};
frame.src = "report.html";
</script></body>
"""
HOSTILE = (
    '</script><script>hacked=1</script><img src=x onerror="hacked=1">'
    "<!--<script>\u2028\u202e" + "long" * 200
)


def chromium(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--allow-file-access-from-files",
            f"--user-data-dir={folder / 'profile'}",
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a report in which a server tries everything."""
    lines = (GOLDEN / "events.ndjson").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        for key in ("response_body", "actual", "reason", "error", "label"):
            if event.get(key):
                event[key] += HOSTILE
    run = collect(read_lines(map(json.dumps, events)))
    (tmp_path / "report.html").write_text(html.render(run), encoding="utf-8")
    return tmp_path


def use(folder: Path, width: int) -> dict[str, Any]:
    (folder / "harness.html").write_text(HARNESS % width, encoding="utf-8")
    url = (folder / "harness.html").as_uri()
    dom = chromium(
        folder, "--window-size=1400,1000", "--virtual-time-budget=8000", "--dump-dom", url
    )
    match = re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)
    assert match, dom[-2000:]
    found: dict[str, Any] = json.loads(entities.unescape(match[1]))
    return found


@pytest.mark.parametrize("width", [390, 1280])
def test_a_reader_can_use_it(folder: Path, width: int) -> None:
    found = use(folder, width)
    assert found["overflow"] == 0
    assert found["openOverflow"] == 0
    assert len(found["all"]) == 12
    assert found["fail"] == ["FROM-5", "LIFE-1"]
    assert found["failAndWarn"] == ["KEEP-5", "FROM-5", "LIFE-1"]
    assert found["again"] == found["all"]
    assert found["search"] == ["KEEP-5"]
    assert found["none"] is True
    # Each exchange is shown under each requirement it bears on: 8, and one of them twice.
    assert found["exchanges"] == 9
    assert "onerror" in found["text"]
    assert found["foreign"] == 0
    assert found["hacked"] is False


def test_it_prints(folder: Path) -> None:
    chromium(folder, f"--print-to-pdf={folder / 'out.pdf'}", (folder / "report.html").as_uri())
    pdf = (folder / "out.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
