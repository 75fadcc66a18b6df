"""`report.html`: one file, no outside parts, made for a phone, a desk and paper alike.

Verdicts, reasons and scripts are plain HTML and need no JavaScript. The exchanges of a test are
JSON inside the page and become visible when their row is opened, so that a run of thousands of
exchanges still opens at once. The page's own policy lets no other script run, whatever a server
managed to get into it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from halogen_conformance.capability import COLUMNS, matrix
from halogen_conformance.events import Check, ExchangeSeen, TargetChanged
from halogen_conformance.report.markup import Markup, join, prose, tag, void
from halogen_conformance.report.wording import (
    MEANING,
    Finding,
    findings,
    observed,
    partly,
    told,
    untried,
    when,
)
from halogen_conformance.run import Result, Run, TestRecord, sentence
from halogen_conformance.verdict import FAILING, SEVERITY, Exit, Verdict
from halogen_conformance.visible import visible

_CHANGES = {"use": "in use", "start": "started", "stop": "stopped", "kill": "killed"}
_OPEN = FAILING | {Verdict.ERROR, Verdict.WARN}


def _asset(name: str) -> str:
    return (files("halogen_conformance.report") / name).read_text(encoding="utf-8")


def _slug(verdict: Verdict) -> str:
    return verdict.value.replace("/", "").lower()


def _badge(verdict: Verdict, text: str | None = None) -> Markup:
    return tag("span", text or verdict.value, class_=f"badge {_slug(verdict)}")


def data_block(value: Any) -> Markup:
    """JSON that is safe inside a script element: nothing in it can close it or open a comment."""
    text = json.dumps(value, separators=(",", ":"))
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def _step(step: ExchangeSeen | TargetChanged) -> dict[str, Any]:
    if isinstance(step, TargetChanged):
        change = _CHANGES.get(step.action, step.action)
        return {"change": change, "settings": [list(pair) for pair in step.settings]}
    return {
        "n": step.number,
        "label": visible(step.label),
        "line": visible(f"{step.method} {step.path}"),
        "status": step.status,
        "error": visible(step.error),
        "left": step.left_after,
        "ms": round(step.seconds * 1000),
        "first": None if step.first_byte_s is None else round(step.first_byte_s * 1000),
        "sent": _message(step.request_headers, step.request_body),
        "got": _message(step.response_headers, step.response_body),
        "frames": [[round(at * 1000), visible(text)] for at, text in step.frames],
    }


def _message(headers: tuple[tuple[str, str], ...], body: str) -> str:
    lines = [f"{name}: {value}" for name, value in headers]
    return visible("\n".join(lines) + (f"\n\n{_pretty(body)}" if body else ""))


def _pretty(body: str) -> str:
    """Indented if it is JSON; as it came if not. Values stay as they are either way."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not isinstance(value, dict | list):
        return body
    return json.dumps(value, indent=2, ensure_ascii=False)


class _Page:
    """Builds the parts of one page; knows which test has which number."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.numbers = {record.test: number for number, record in enumerate(run.tests)}

    def render(self) -> str:
        script, style = _asset("report.js"), _asset("report.css")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
        head = tag(
            "head",
            void("meta", charset="utf-8"),
            void("meta", http_equiv="Content-Security-Policy", content=policy),
            void("meta", name="viewport", content="width=device-width, initial-scale=1"),
            void("meta", name="color-scheme", content="light dark"),
            tag("title", f"Conformance of {self.run.started.target}"),
            tag("style", Markup(style)),
        )
        body = tag(
            "body",
            tag("header", self._banner(), self._facts()),
            tag("main", self._overview(), self._troubles(), self._results(), self._left_out()),
            *(self._data(record) for record in self.run.tests if record.steps),
            tag("script", Markup(script)),
        )
        return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"

    def _banner(self) -> Markup:
        tone = {Exit.CONFORMS: "pass", Exit.DOES_NOT: "fail"}.get(self.run.code, "error")
        return tag(
            "div",
            tag("p", "Sessions protocol conformance", class_="kicker"),
            tag("h1", self.run.started.target),
            tag("p", sentence(self.run), class_="verdict", role="status"),
            class_=f"banner {tone}",
        )

    def _facts(self) -> Markup:
        started, finished = self.run.started, self.run.finished
        rows = [("run at", when(started.at)), *started.facts, *started.versions]
        rows.append(("tests", str(len(self.run.tests))))
        rows.append(("took", f"{finished.seconds:.1f} s" if finished else "did not finish"))
        rows += [("only", ", ".join(started.only))] if started.only else []
        rows += [("seed", str(started.seed)), ("exit code", str(int(self.run.code)))]
        cells = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows if value]
        return tag("dl", *cells, class_="facts")

    def _overview(self) -> Markup:
        head = [tag("th", "Group", scope="col")]
        head += [tag("th", title, scope="col") for _, title in COLUMNS]
        body = []
        for line in matrix(self.run):
            cells = [tag("th", tag("a", line.group, href=f"#g-{line.group}"), scope="row")]
            for cell in line.cells:
                where = tag("small", cell.where) if cell.where else None
                shown = _badge(cell.verdict, cell.text) if cell.verdict else cell.text
                cells.append(tag("td", shown, where))
            body.append(tag("tr", *cells))
        table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
        return tag(
            "section",
            tag("h2", "At a glance"),
            tag("div", table, class_="scroll"),
            tag("p", "Checks passed of checks made, the worst verdict first.", class_="hint"),
        )

    def _troubles(self) -> Markup | None:
        blocks = [
            tag("div", tag("h3", f"The suite went wrong: {one.where}"), tag("pre", one.text))
            for one in self.run.suite_errors
        ]
        if self.run.lost is not None:
            blocks.append(tag("div", tag("h3", "Target lost"), tag("pre", self.run.lost.text)))
        blocks += [tag("pre", note.text) for note in self.run.notes]
        return tag("section", tag("h2", "Notes"), *blocks) if blocks else None

    def _results(self) -> Markup:
        groups: dict[str, list[Result]] = {}
        for result in self.run.results:
            groups.setdefault(result.row.group, []).append(result)
        parts = [
            tag("h2", "Requirements"),
            self._filters(),
            tag("p", "Nothing matches.", id="none", hidden=True),
        ]
        for name, results in groups.items():
            inner = [self._requirement(result) for result in results]
            parts.append(tag("section", tag("h3", name, id=f"g-{name}"), *inner, class_="group"))
        return tag("section", *parts)

    def _filters(self) -> Markup:
        counts = self.run.counts
        buttons = []
        for verdict in SEVERITY:
            # Known failures keep their own verdict in the list, so they are counted with it.
            count = sum(result.verdict is verdict for result in self.run.results)
            if count:
                buttons.append(
                    tag(
                        "button",
                        f"{verdict.value} {count}",
                        type="button",
                        class_=f"badge {_slug(verdict)}",
                        data_filter=_slug(verdict),
                        aria_pressed="true",
                        title=MEANING[verdict],
                    )
                )
        search = void(
            "input", type="search", id="find", placeholder="Find…", aria_label="Find text"
        )
        known = f"{counts['KNOWN']} known failure(s)" if counts["KNOWN"] else None
        return tag("div", *buttons, search, known, class_="filters", role="group")

    def _requirement(self, result: Result) -> Markup:
        row = result.row
        marks = [tag("span", "known failure", class_="mark")] if result.known else []
        marks += [tag("span", "out of date in the baseline", class_="mark")] if result.stale else []
        summary = tag(
            "summary",
            _badge(result.verdict),
            tag("code", row.id),
            tag("span", row.level.value, class_="level"),
            *marks,
            tag("span", prose(row.sentence), class_="sentence"),
        )
        inner: list[Markup | None] = []
        if result.known_reason:
            inner.append(tag("p", f"Baseline: {result.known_reason}"))
        if result.why_not:
            inner.append(tag("p", f"Not tried: {result.why_not}"))
        if result.verdict is Verdict.INFO:
            inner.append(tag("p", observed(result)))
        inner += [self._finding(finding) for finding in findings(result.checks)]
        return tag(
            "details",
            summary,
            tag("div", *inner, class_="inner"),
            id=row.id,
            class_="req",
            data_verdict=_slug(result.verdict),
            open=result.verdict in _OPEN,
        )

    def _finding(self, finding: Finding) -> Markup:
        first = finding.checks[0]
        lines = [tag("div", tag("dt", label), tag("dd", text)) for label, text in told(first)]
        repro = None
        if first.repro:
            repro = tag(
                "details",
                tag("summary", "Repeat it with curl"),
                tag("pre", first.repro),
                class_="repro",
            )
        return tag(
            "div",
            tag("p", _badge(finding.verdict), f" {finding.places}", class_="where"),
            tag("dl", *lines, class_="told") if lines else None,
            repro,
            *(self._trace(check) for check in finding.checks),
            class_="finding",
        )

    def _trace(self, check: Check) -> Markup:
        record = self.run.record(check.test)
        name = tag("code", check.test)
        if record is None or not record.steps:
            return tag("p", name, class_="trace-none")
        count = len(record.exchanges)
        label = f" · {count} exchange{'' if count == 1 else 's'} · {record.seconds:.2f} s"
        notes = [tag("p", note, class_="hint") for note in record.notes]
        return tag(
            "details",
            tag("summary", name, label),
            *notes,
            class_="trace",
            data_test=str(self.numbers[check.test]),
        )

    def _data(self, record: TestRecord) -> Markup:
        return tag(
            "script",
            data_block([_step(step) for step in record.steps]),
            type="application/json",
            id=f"t-{self.numbers[record.test]}",
        )

    def _left_out(self) -> Markup | None:
        whole = [tag("li", *join_codes(ids), f": {reason}") for reason, ids in untried(self.run)]
        parts = [
            tag("li", tag("code", rid), f" on {where}: {reason}")
            for rid, where, reason in partly(self.run)
        ]
        if not whole and not parts:
            return None
        return tag("section", tag("h2", "Not tried"), tag("ul", *whole, *parts))


def join_codes(ids: list[str]) -> list[Markup]:
    """The ids in code type with blanks between them."""
    return [join((tag("code", rid), " ")) for rid in ids]


def render(run: Run) -> str:
    """The whole page."""
    return _Page(run).render()
