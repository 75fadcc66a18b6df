"""`report.html`: one file without outside parts or scripts, for a phone, a desk and paper."""

import time
from dataclasses import asdict, fields
from importlib.resources import files

from halogen_loadtest.options import spelled
from halogen_loadtest.report import curves
from halogen_loadtest.report.markup import Markup, escape, join, tag, void
from halogen_loadtest.report.timeline import chosen, legend, timeline
from halogen_loadtest.report.wording import amount, rows_of, seconds_of, share_of
from halogen_loadtest.result import Result
from halogen_loadtest.summary import Figures, wall_of
from halogen_loadtest.verdict import Exit

_TONES = {Exit.CONFORMS: "pass", Exit.DOES_NOT: "fail"}
_SENTENCES = {
    Exit.CONFORMS: "Every rule held.",
    Exit.DOES_NOT: "It does not hold up.",
    Exit.TARGET_LOST: "The server was lost.",
    Exit.OUR_ERROR: "The load test itself went wrong: this says nothing about the server.",
    Exit.NOTHING_TESTED: "Nothing was tested.",
}
_WORDS = {"held": "pass", "BROKEN": "fail", "MISSED": "warn", "not tried": "na"}


def render(result: Result) -> str:
    """The whole page."""
    style = (files("halogen_loadtest.report") / "report.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        void("meta", charset="utf-8"),
        void(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        tag("title", f"Load test of {result.target}"),
        tag("style", Markup(style)),
    )
    body = tag(
        "body",
        tag("header", _banner(result), _facts(result)),
        tag(
            "main",
            _figures(result),
            _invariants(result),
            _violations(result),
            _timelines(result),
            tag("section", tag("h2", "Over time"), tag("div", *curves.of(result), class_="grid2")),
            _steps(result),
            _settings(result),
        ),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _banner(result: Result) -> Markup:
    tone = _TONES.get(result.verdict.code, "warn")
    reasons = [tag("li", reason) for reason in result.verdict.reasons]
    notes = [tag("p", note, class_="hint") for note in result.notes]
    return tag(
        "div",
        tag("p", f"Load test: {result.settings.scenario}", class_="kicker"),
        tag("h1", result.target),
        tag("p", _SENTENCES[result.verdict.code], class_="verdict", role="status"),
        tag("ul", *reasons) if reasons else None,
        *notes,
        class_=f"banner {tone}",
    )


def _facts(result: Result) -> Markup:
    judged = result.counts.get("judged", 0)
    rows = [
        ("began", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(result.began))),
        ("took", f"{result.seconds:.1f} s"),
        ("users", f"{result.users:,} ({result.settings.shape})"),
        ("exchanges judged", f"{judged:,}"),
        ("at once, at most", f"{result.most_open:,}"),
        ("load test's processes", f"{len(result.workers)}, each {_cpu(result)} of a core"),
        ("exit code", str(int(result.verdict.code))),
    ]
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", text)) for name, text in rows), class_="facts"
    )


def _cpu(result: Result) -> str:
    used = [one.mean for one in result.workers]
    return f"{sum(used) / len(used):.0f} %" if used else "unknown share"


def _figures(result: Result) -> Markup:
    halves: list[tuple[str, Figures | None]] = [("with sessions", result.with_sessions)]
    if result.settings.compare:
        halves.append(("without", result.without))
    head = tag("tr", tag("th", ""), *(tag("th", name, scope="col") for name, _ in halves))
    body = []
    for name, show in rows_of(halves):
        cells = [tag("td", show(half) if half is not None else "-") for _, half in halves]
        body.append(tag("tr", tag("th", name, scope="row"), *cells))
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="figures")
    return tag("section", tag("h2", "Figures"), tag("div", table, class_="scroll"))


def _invariants(result: Result) -> Markup:
    rows = []
    for one in result.invariants:
        tone = _WORDS[one.word]
        rows.append(
            tag(
                "tr",
                tag("td", tag("span", one.word, class_=f"badge {tone}")),
                tag(
                    "td",
                    tag("strong", one.invariant.id),
                    " ",
                    one.invariant.sentence,
                    tag("small", ", ".join(one.invariant.rows)),
                ),
                tag("td", f"{one.broken:,} of {one.checked:,}", class_="number"),
            )
        )
    head = tag("tr", tag("th", ""), tag("th", "rule"), tag("th", "broken", class_="number"))
    table = tag("table", tag("thead", head), tag("tbody", *rows))
    return tag("section", tag("h2", "Rules"), tag("div", table, class_="scroll"))


def _violations(result: Result) -> Markup | None:
    blocks = []
    for one in result.violations:
        title = tag("summary", tag("strong", one.invariant), f" {one.step}: {one.actual[:160]}")
        blocks.append(
            tag(
                "details",
                title,
                tag(
                    "dl",
                    tag("div", tag("dt", "expected"), tag("dd", one.expected)),
                    tag("div", tag("dt", "actual"), tag("dd", one.actual)),
                    class_="told",
                ),
                _folded("Repeat it with curl", one.script),
                _folded("What was sent", one.sent),
                _folded("What came back", one.got),
            )
        )
    if not blocks:
        return None
    hint = tag("p", "Of each rule a few are shown; all are counted above.", class_="hint")
    return tag("section", tag("h2", "What went wrong"), hint, *blocks)


def _folded(title: str, text: str) -> Markup | None:
    return tag("details", tag("summary", title), tag("pre", text)) if text else None


def _timelines(result: Result) -> Markup | None:
    halves = [("with sessions", chosen(result.records, sessions=True))]
    if result.settings.compare:
        halves.append(("without", chosen(result.records, sessions=False)))
    every = [lanes for _, shown in halves for _, lanes in shown]
    if not every:
        return None
    scale = max(wall_of(lanes) for lanes in every) or 1.0
    pictures = [
        timeline(f"{word}, {half}: {wall_of(lanes):.2f} s", lanes, scale)
        for half, shown in halves
        for word, lanes in shown
    ]
    return tag(
        "section",
        tag("h2", "Asked at once"),
        tag("p", "A lane is one branch; all pictures have one scale.", class_="hint"),
        legend(),
        tag("div", *pictures, class_="grid2"),
    )


def _steps(result: Result) -> Markup:
    head = ("step", "requests", "TTFT p50", "TTFT p95", "whole p50", "whole p95", "read of prompt")
    rows = []
    for name, records in curves.steps(result.records):
        first = [one.first for one in records if one.first is not None]
        whole = [one.seconds for one in records]
        prompt, read = sum(one.prompt for one in records), sum(one.evaluated for one in records)
        cells = [
            amount(len(records)),
            seconds_of(first, 0.5),
            seconds_of(first, 0.95),
            seconds_of(whole, 0.5),
            seconds_of(whole, 0.95),
            share_of(read / prompt if prompt else None),
        ]
        rows.append(
            tag("tr", tag("th", name, scope="row"), *(tag("td", c, class_="number") for c in cells))
        )
    titles = [tag("th", title, class_="number" if i else None) for i, title in enumerate(head)]
    table = tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *rows))
    return tag("section", tag("h2", "Steps"), tag("div", table, class_="scroll"))


def _settings(result: Result) -> Markup:
    chosen_ = asdict(result.settings)
    lines = [
        f"{spelled(one.name)} {chosen_[one.name]}"
        for one in fields(result.settings)
        if chosen_[one.name] != one.default
    ]
    text = "\n".join(lines) or "all as they are by default"
    return tag("section", tag("h2", "Options"), tag("pre", join([escape(text)])))
