"""`summary.md`: the run on one page, for a pull request or a CI job's summary."""

from __future__ import annotations

import re

from halogen_conformance.capability import COLUMNS, matrix
from halogen_conformance.report.wording import (
    counts_line,
    findings,
    observed,
    partly,
    told,
    untried,
    when,
)
from halogen_conformance.run import Result, Run, sentence
from halogen_conformance.verdict import FAILING, Verdict
from halogen_conformance.visible import one_line

# What Markdown, or HTML inside it, would act on in the middle of a line.
_ACTIVE = re.compile(r"([\\`*_\[\]<>|~$&])")
# Mentions, links and emoji that need no mark-up: a server must not be able to call people.
_LIVE = re.compile(r"@|:(?=//|[\w+-]+:)|(?<=www)\.")
_LONGEST = 400


def plain(text: str) -> str:
    """Foreign text on one line, with nothing in it that Markdown would act on."""
    escaped = _ACTIVE.sub(r"\\\1", one_line(text, _LONGEST))
    return _LIVE.sub(lambda found: f"&#{ord(found[0])};", escaped)


def _table(run: Run) -> list[str]:
    titles = ["Group", *(title for _, title in COLUMNS)]
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    for line in matrix(run):
        cells = [f"{cell.text} ({cell.where})" if cell.where else cell.text for cell in line.cells]
        lines.append("| " + " | ".join([line.group, *cells]) + " |")
    return lines


def _result(result: Result, *verdicts: Verdict) -> list[str]:
    row = result.row
    lines = [f"- **{row.id}** ({row.level}): {plain(row.sentence)}"]
    if result.known_reason:
        lines.append(f"  - known failure: {plain(result.known_reason)}")
    for finding in findings(result.of(*verdicts)):
        lines.append(f"  - {finding.verdict} on {plain(finding.places)}")
        lines += [f"    - {label}: {plain(text)}" for label, text in told(finding.checks[0])]
    return lines


def _chapter(title: str, lines: list[str]) -> list[str]:
    return ["", f"### {title}", "", *lines] if lines else []


def render(run: Run) -> str:
    """The whole page."""
    failing = [one for one in run.results if one.verdict in FAILING and not one.known]
    bad = (*FAILING, Verdict.ERROR, Verdict.WARN)
    errors = [line for one in run.results if one.of(Verdict.ERROR) for line in _result(one, *bad)]
    errors += [f"- {plain(one.where)}: {plain(one.text)}" for one in run.suite_errors]
    out = [
        "## Sessions protocol conformance",
        "",
        f"**{plain(sentence(run))}**",
        "",
        f"Target {plain(run.started.target)}, {when(run.started.at)}: {counts_line(run)}.",
        "",
        *_table(run),
        *_chapter("Failures", [line for one in failing for line in _result(one, *bad)]),
        *_chapter("Errors of the suite", errors),
        *_chapter(
            "Warnings",
            [
                line
                for one in run.results
                if one.verdict is Verdict.WARN and not one.known
                for line in _result(one, Verdict.WARN)
            ],
        ),
        *_chapter(
            "Known failures", [line for one in run.results if one.known for line in _result(one)]
        ),
        *_chapter(
            "Only reported",
            [
                f"- **{one.row.id}**: {plain(observed(one))}"
                for one in run.results
                if one.verdict is Verdict.INFO
            ],
        ),
        *_chapter(
            "Not tried",
            [f"- {', '.join(ids)}: {plain(reason)}" for reason, ids in untried(run)]
            + [f"- {rid} on {where}: {plain(reason)}" for rid, where, reason in partly(run)],
        ),
    ]
    return "\n".join(out) + "\n"
