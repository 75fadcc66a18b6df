"""`junit.xml` for CI systems: one suite a group, one case for each check.

FAIL and BLOCKED are failures, ERROR is an error, N/A and known failures are skipped. WARN and
INFO pass, with what was seen as output: JUnit has no word for them. A requirement that nothing
was checked about is a skipped case, so that it cannot be overlooked.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime

from halogen_conformance.events import Check
from halogen_conformance.report.wording import place, told
from halogen_conformance.run import Result, Run
from halogen_conformance.verdict import FAILING, Verdict
from halogen_conformance.visible import visible


def _text(check: Check) -> str:
    lines = [f"{label}: {text}" for label, text in told(check)]
    return visible("\n".join([*lines, check.repro] if check.repro else lines))


def _headline(result: Result, check: Check) -> str:
    return visible(f"{result.row.id} ({result.row.level}): {result.row.sentence}", 500)


def _case(result: Result, check: Check) -> ET.Element:
    where = place(check)
    case = ET.Element(
        "testcase",
        classname=f"{result.row.group}.{result.row.id}",
        name=visible(check.test + (f" [{where}]" if where else "")),
    )
    title, text = _headline(result, check), _text(check)
    if result.known and check.verdict not in {Verdict.PASS, Verdict.ERROR}:
        ET.SubElement(case, "skipped", message=visible(f"known failure: {result.known_reason}"))
    elif check.verdict in FAILING:
        ET.SubElement(case, "failure", message=title, type=check.verdict.value).text = text
    elif check.verdict is Verdict.ERROR:
        ET.SubElement(case, "error", message=title, type="ERROR").text = text
    elif check.verdict is Verdict.NA:
        ET.SubElement(case, "skipped", message=visible(check.reason))
    elif check.verdict is not Verdict.PASS:
        ET.SubElement(case, "system-out").text = f"{check.verdict}: {title}\n{text}"
    return case


def _cases(result: Result) -> list[ET.Element]:
    cases = [_case(result, check) for check in result.checks]
    name = {"classname": f"{result.row.group}.{result.row.id}", "name": result.row.id}
    if not cases:
        case = ET.Element("testcase", name)
        ET.SubElement(case, "skipped", message=visible(result.why_not))
        cases.append(case)
    if result.stale:
        case = ET.Element("testcase", name | {"name": "baseline"})
        message = f"{result.row.id} passes: remove its entry from the baseline"
        ET.SubElement(case, "failure", message=message, type="STALE")
        cases.append(case)
    return cases


def _run_cases(run: Run) -> list[ET.Element]:
    """What went wrong with the run as a whole."""
    troubles = [("suite", f"{one.where}\n{one.text}") for one in run.suite_errors]
    troubles += [("target", run.lost.text)] if run.lost else []
    troubles += [] if run.complete else [("run", "the run was cut off before its end")]
    cases = []
    for name, text in troubles:
        case = ET.Element("testcase", classname="run", name=name)
        ET.SubElement(case, "error", message=visible(text, 200), type="ERROR").text = visible(text)
        cases.append(case)
    return cases


def _suite(name: str, cases: list[ET.Element], at: float) -> ET.Element:
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
        timestamp=datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S"),
    )
    suite.extend(cases)
    return suite


def render(run: Run) -> str:
    """The whole file."""
    groups: dict[str, list[ET.Element]] = {}
    for result in run.results:
        groups.setdefault(result.row.group, []).extend(_cases(result))
    if trouble := _run_cases(run):
        groups["run"] = trouble
    root = ET.Element("testsuites", name=visible(f"halogen-conformance {run.started.target}"))
    root.extend(_suite(name, cases, run.started.at) for name, cases in groups.items())
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, "unicode") + "\n"
