"""Every form of the report from one saved stream, compared with what a person has looked at.

After a change that is meant, run with HALOGEN_UPDATE_GOLDEN=1, look at the difference, commit it.
"""

from __future__ import annotations

import io
import json
import os
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from halogen_conformance.console import Live, show
from halogen_conformance.events import Check, Event, RequirementListed
from halogen_conformance.report import html, junit, results, summary
from halogen_conformance.report.markup import Markup, prose, tag, void
from halogen_conformance.report.summary import plain
from halogen_conformance.report.wording import observed
from halogen_conformance.report.write import write
from halogen_conformance.run import Result, Run, collect
from halogen_conformance.stream import read_lines
from halogen_conformance.verdict import Level, Outcome, Verdict

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return list(read_lines((GOLDEN / "events.ndjson").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def run(events: list[Event]) -> Run:
    return collect(events)


def same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("HALOGEN_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def without_assets(page: str) -> str:
    """The page without its style, script and their digest, an element a line: a readable diff."""
    page = re.sub(r"<style>.*?</style>", "<style></style>", page, flags=re.S)
    page = re.sub(r"<script>.*?</script>", "<script></script>", page, flags=re.S)
    page = re.sub(r"sha256-[\w+/=]+", "sha256-…", page)
    return page.replace("><", ">\n<")


def test_html(run: Run) -> None:
    same_as_golden("report.html", without_assets(html.render(run)))


def test_junit(run: Run) -> None:
    same_as_golden("junit.xml", junit.render(run))


def test_summary(run: Run) -> None:
    same_as_golden("summary.md", summary.render(run))


def test_results(run: Run) -> None:
    same_as_golden("results.json", results.render(run))


def test_console(run: Run, events: list[Event]) -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, markup=False, emoji=False, highlight=False)
    live = Live(console)
    for event in events:
        live(event)
    show(console, run)
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
    assert "\x1b" not in text
    same_as_golden("console.txt", text)


def test_the_console_prints_some_scripts_or_says_where_they_are(run: Run, tmp_path: Path) -> None:
    failing = [one for one in run.results if one.row.id == "FROM-5"] * 5
    for folder, printed, named in ((None, 3, 0), (tmp_path, 0, 5)):
        out = io.StringIO()
        console = Console(file=out, width=100, markup=False)
        show(console, replace(run, results=tuple(failing)), folder)
        assert out.getvalue().count("#!/bin/sh") == printed
        assert out.getvalue().count(f"sh {folder}/repro/FROM-5.sh") == named


def test_a_terminal_gets_a_moving_line_that_goes_away(events: list[Event]) -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, markup=False)
    live = Live(console)
    for event in events:
        live(event)
    live.close()
    # Whatever the server sent, the only escape sequences are rich's own.
    assert "\x1b[31mpipe" not in out.getvalue()
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h")


class Elements(HTMLParser):
    """All start tags of a page, and the text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_closed_in_itself_and_runs_no_foreign_script(run: Run) -> None:
    page = Elements()
    page.feed(html.render(run))
    outside = {"src", "srcset", "data", "action", "background", "poster", "ping"}
    for _, attributes in page.tags:
        assert not outside & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert (attributes.get("href") or "#").startswith("#")
    scripts = [attributes for name, attributes in page.tags if name == "script"]
    assert [one for one in scripts if one.get("type") != "application/json"] == [{}]
    policy = next(one for _, one in page.tags if one.get("http-equiv"))["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert '<script>alert("x")</script>' in page.text  # as text, not as an element
    assert not {"link", "iframe", "img", "object"} & {name for name, _ in page.tags}


def test_exchanges_inside_the_page_are_json_again(run: Run) -> None:
    page = html.render(run)
    blocks = re.findall(r'<script type="application/json" id="t-\d+">(.*?)</script>', page)
    assert len(blocks) == sum(bool(record.steps) for record in run.tests)
    assert all("<" not in block for block in blocks)
    sent = [step["got"] for block in blocks for step in json.loads(block) if "got" in step]
    assert any("</script><script>alert(1)</script>" in text for text in sent)


def test_junit_counts_add_up(run: Run) -> None:
    root = ET.fromstring(junit.render(run))
    for total, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(total, "")) == len(root.findall(f".//{element}"))
    assert int(root.get("tests", "")) == len(root.findall(".//testcase"))
    assert root.find(".//testcase[@classname='LIFE.LIFE-1']/skipped") is not None  # known
    assert root.find(".//testcase[@name='baseline']/failure[@type='STALE']") is not None
    assert root.find(".//testcase[@classname='FROM.FROM-10']/skipped") is not None  # no test ran


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (("held",), "as written"),
        # What a server does not offer is no difference, and not its words for one.
        (("held", "not offered"), "as written"),
        (("missed", "held", "not offered"), "differs: saw missed"),
        (("blocked", "not offered"), "could not be seen: because blocked"),
        (("missed", "blocked"), "differs: saw missed; could not be seen: because blocked"),
    ],
)
def test_what_an_ours_row_showed(outcomes: tuple[str, ...], said: str) -> None:
    row = RequirementListed("AA-1", Level.OURS, "AA", "S.")
    words = {"missed": ("saw missed", "")}
    checks = [
        Check("t", "AA-1", Outcome(one), Verdict.INFO, actual=actual, reason=reason)
        for one in outcomes
        for actual, reason in [words.get(one, ("", f"because {one}"))]
    ]
    assert observed(Result(row, Verdict.INFO, tuple(checks))) == said


def test_markup_escapes_what_is_not_markup() -> None:
    assert tag("p", "<b>\x1b", tag("i", "x"), class_='a"b') == (
        '<p class="a&quot;b">&lt;b&gt;\\x1b<i>x</i></p>'
    )
    assert void("input", hidden=True, value=None) == "<input hidden>"
    assert prose("`<a>` is b") == "<code>&lt;a&gt;</code> is b"
    assert tag("p", Markup("<hr>")) == "<p><hr></p>"


def test_foreign_text_calls_nobody_and_links_nowhere_in_markdown() -> None:
    assert plain("@team :tada: http://x [a](b) <b>\n# www.x") == (
        "&#64;team &#58;tada: http&#58;//x \\[a\\](b) \\<b\\> # www&#46;x"
    )


def test_write_makes_all_forms_and_the_scripts(run: Run, tmp_path: Path) -> None:
    files = write(run, tmp_path / "deep" / "out")
    names = sorted(str(path.relative_to(tmp_path / "deep" / "out")) for path in files)
    assert names == [
        "junit.xml",
        "report.html",
        "repro/FROM-5.sh",
        "repro/FROM-7.sh",
        "repro/KEEP-5.sh",
        "repro/LIFE-1.sh",
        "results.json",
        "summary.md",
    ]
    assert all(path.stat().st_size for path in files)


@pytest.mark.parametrize("length", [0, 1, 5, 20, 40])
def test_a_run_that_was_cut_off_anywhere_still_renders(events: list[Event], length: int) -> None:
    run = collect(events[:length])
    for render in (html.render, junit.render, summary.render, results.render):
        assert "cut off" in render(run)
