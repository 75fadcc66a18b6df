"""The one event stream of a run: what happened, in order, as typed values.

Everything a reader sees (console, HTML, JUnit, Markdown, JSON) is made from these events and
nothing else, so a saved stream can be rendered again on another machine. Times are Unix seconds,
durations seconds. Secrets are hidden before an event is made.

`stream` writes and reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from halogen_conformance.verdict import Level, Outcome, Verdict

FORMAT = 1
Pairs: TypeAlias = tuple[tuple[str, str], ...]
Frames: TypeAlias = tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins. `facts` is what the caller declared about the target, key by key."""

    target: str
    at: float
    facts: Pairs = ()
    versions: Pairs = ()
    seed: int = 0
    only: tuple[str, ...] = ()
    format: int = FORMAT


@dataclass(frozen=True, slots=True)
class RequirementListed:
    """One row of the requirements; sent for all rows before the first test.

    `excluded` is the reason why the suite has no test for it, if it has none.
    """

    id: str
    level: Level
    group: str
    sentence: str
    x3: bool = False
    excluded: str = ""


@dataclass(frozen=True, slots=True)
class KnownListed:
    """One entry of the baseline of known failures."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class TestsCollected:
    """How many tests are about to run."""

    __test__ = False  # not a test class, whatever its name looks like to pytest
    count: int


@dataclass(frozen=True, slots=True)
class TestStarted:
    """A test begins."""

    __test__ = False
    test: str
    at: float
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExchangeSeen:
    """One request and what came back.

    `number` counts from 1 within the test. `frames` holds a streamed body piece by piece with
    the seconds since the request was sent; `response_body` any other body. `status` is None if
    no answer came; `error` says then why. `left_after` is the number of body bytes after which
    the suite hung up on purpose (None: it did not).
    """

    test: str
    number: int
    method: str
    path: str
    at: float
    seconds: float
    label: str = ""
    route: str = ""
    streaming: bool = False
    request_headers: Pairs = ()
    request_body: str = ""
    status: int | None = None
    response_headers: Pairs = ()
    response_body: str = ""
    frames: Frames = ()
    first_byte_s: float | None = None
    error: str = ""
    left_after: int | None = None


@dataclass(frozen=True, slots=True)
class TargetChanged:
    """The suite started, stopped or killed the target. `settings` is its HALOGEN_* environment."""

    test: str
    at: float
    action: str
    settings: Pairs = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One verdict: this test, on this route, about this requirement.

    `route` is empty for what belongs to no single route, `streaming` is None where it does not
    apply. `repro` is a shell script of curl calls that repeats the exchanges so far.
    """

    test: str
    requirement: str
    outcome: Outcome
    verdict: Verdict
    route: str = ""
    streaming: bool | None = None
    expected: str = ""
    actual: str = ""
    reason: str = ""
    repro: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something worth knowing that is no verdict: a failed clean-up, the target's log."""

    text: str
    test: str = ""


@dataclass(frozen=True, slots=True)
class SuiteError:
    """The suite itself went wrong outside any check (a module that does not import, say)."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class TargetLost:
    """The target could not be reached, or died. The run stops here."""

    text: str
    test: str = ""


@dataclass(frozen=True, slots=True)
class TestFinished:
    """A test is over, clean-up included."""

    __test__ = False
    test: str
    at: float
    seconds: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over; absent from a stream that was cut off."""

    exit_code: int
    at: float
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)


Event: TypeAlias = (
    RunStarted
    | RequirementListed
    | KnownListed
    | TestsCollected
    | TestStarted
    | ExchangeSeen
    | TargetChanged
    | Check
    | Note
    | SuiteError
    | TargetLost
    | TestFinished
    | RunFinished
)
