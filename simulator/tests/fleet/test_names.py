"""Simulated names against the reference's own table, and the rules they share."""

import math
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halogen_reference.sessions.kept import Kept
from halogen_reference.sessions.names import NameTable
from halogen_simulator.fleet.history import Piece, Role
from halogen_simulator.fleet.memory import Memory
from halogen_simulator.fleet.names import Names, Outcome
from halogen_simulator.fleet.policies import POLICIES

SYSTEM = Piece(Role.SYSTEM, 10)


class Table:
    """Names with a clock to turn."""

    def __init__(self, *, cap: float = 3, ttl: float = 10, policy: str = "lru") -> None:
        self.now = 0.0
        self.memory = Memory()
        self.names = Names(
            cap=cap,
            ttl=ttl,
            policy=POLICIES[policy],
            memory=self.memory,
            clock=lambda: self.now,
            random=Random(0),
        )

    def keep(self, name: str, history: Piece = SYSTEM, parent: str | None = None) -> None:
        self.names.keep(name, history, self.memory.take(None, history.total), parent)


def kept() -> Kept:
    state = SimpleNamespace(tokens=(), size=0, release=lambda: None)
    return cast(Kept, SimpleNamespace(state=state))


NAMES = st.sampled_from("abcde")
STEPS = st.one_of(
    st.tuples(st.just("keep"), NAMES),
    st.tuples(st.just("begin"), NAMES),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.integers(0, 7)),
    st.tuples(st.just("pressure"), st.none()),
)


@given(st.lists(STEPS, max_size=60), st.integers(1, 4))
def test_lru_is_what_the_reference_does(steps: list[tuple[str, Any]], cap: int) -> None:
    """The same calls on both: the same names live, in the same order, after each."""
    table = Table(cap=cap)
    real = NameTable(ttl=10, cap=cap, clock=lambda: table.now)
    using: list[tuple[Any, Any]] = []
    for action, value in steps:
        if action == "keep":
            table.keep(value)
            real.keep(value, kept(), parent=None, source="header")
        elif action == "begin":
            outcome, own = table.names.begin(value, SYSTEM)
            theirs = real.find(value)
            assert (outcome is Outcome.USED) == (theirs is not None)
            if own is not None and theirs is not None:
                real.begin_use(theirs)
                using.append((own, theirs))
        elif action == "end" and using:
            own, theirs = using.pop(value % len(using))
            table.names.end(own)
            real.end_use(theirs)
        elif action == "wait":
            table.now += value
        elif action == "pressure":
            assert table.names.give_memory() == real.give_memory()
        assert table.names.live() == [entry.name for entry in real.live()]


@given(st.lists(STEPS, max_size=60), st.sampled_from(sorted(POLICIES)), st.integers(1, 4))
def test_no_policy_breaks_the_cap_or_leaks_memory(
    steps: list[tuple[str, Any]], policy: str, cap: int
) -> None:
    table, using = Table(cap=cap, policy=policy), []
    for action, value in steps:
        if action == "keep":
            table.keep(value)
            assert value in table.names.live(), "KEEP-1: what was kept last is there"
        elif action == "begin":
            entry = table.names.begin(value, SYSTEM)[1]
            if entry is not None:
                using.append(entry)
        elif action == "end" and using:
            table.names.end(using.pop(value % len(using)))
        elif action == "wait":
            table.now += value
        live = table.names.live()
        assert len(live) <= cap
        assert table.memory.used == SYSTEM.total * len(live)


def test_outcomes() -> None:
    table = Table()
    table.keep("a", history := SYSTEM.then(Role.USER, 5))
    longer = history.then(Role.USER, 1)
    assert table.names.begin(None, longer)[0] is Outcome.ABSENT
    assert table.names.begin("b", longer)[0] is Outcome.UNKNOWN
    assert table.names.begin("a", SYSTEM.then(Role.USER, 6))[0] is Outcome.UNMATCHED
    assert table.names.begin("a", longer)[0] is Outcome.USED


def test_an_unmatched_start_is_no_use() -> None:
    table = Table()
    table.keep("a", SYSTEM.then(Role.USER, 5))
    table.now = 6
    table.names.begin("a", SYSTEM)
    table.now = 10
    assert table.names.live() == []


def test_a_name_in_use_does_not_expire_and_its_clock_starts_at_the_end() -> None:
    table = Table()
    table.keep("a")
    entry = table.names.begin("a", SYSTEM)[1]
    assert entry is not None
    table.now = 100
    assert table.names.live() == ["a"]
    table.names.end(entry)
    table.now = 109
    assert table.names.live() == ["a"]
    table.now = 110
    assert table.names.live() == []


def test_keeping_again_costs_no_other_name_its_place() -> None:
    table = Table(cap=2)
    table.keep("a")
    table.keep("b")
    table.keep("b")
    assert table.names.live() == ["a", "b"]


def test_a_released_name_ends_its_use_in_peace() -> None:
    table = Table(cap=1)
    table.keep("a")
    entry = table.names.begin("a", SYSTEM)[1]
    assert entry is not None
    table.keep("b")
    table.names.end(entry)
    assert table.names.live() == ["b"]


@pytest.mark.parametrize("cap", [0, math.inf])
def test_no_cap_and_no_names(cap: float) -> None:
    table = Table(cap=cap, ttl=math.inf)
    for number in range(100):
        table.keep(str(number))
    table.now = 1e9
    assert len(table.names) == (100 if cap else 0)
    assert table.names.begin("5", SYSTEM)[0] is (Outcome.USED if cap else Outcome.ABSENT)


# Three names: main (made first, used at 4), sub (started from main, longest, used at 5 and by a
# request now), other (shortest, used least recently).
VICTIMS = {
    "lru": "other",
    "mru": "sub",
    "fifo": "main",
    "largest-first": "sub",
    "smallest-first": "other",
    "least-used": "other",
    "subagents-first": "sub",
    "newest-subagent": "sub",
    "parents-last": "other",
    "idle-first": "other",
    "quiet-else-newest": "other",
}


def busy_table(policy: str) -> Table:
    table = Table(cap=3, ttl=1000, policy=policy)
    histories = {"main": SYSTEM.then(Role.USER, 5), "sub": SYSTEM.then(Role.USER, 50)}
    table.keep("main", histories["main"])
    table.now = 1
    table.keep("sub", histories["sub"], parent="main")
    table.now = 2
    table.keep("other", SYSTEM)
    for name, now in (("main", 4), ("sub", 5)):
        table.now = now
        outcome, entry = table.names.begin(name, histories[name])
        assert outcome is Outcome.USED and entry is not None
        if name == "main":
            table.names.end(entry)
    return table


@pytest.mark.parametrize("policy", sorted(VICTIMS))
def test_whom_each_policy_releases(policy: str) -> None:
    table = busy_table(policy)
    before = set(table.names.live())
    table.keep("newcomer")
    assert before - set(table.names.live()) == {VICTIMS[policy]}


def test_every_policy_is_tested() -> None:
    assert VICTIMS.keys() | {"random"} == POLICIES.keys()


def test_going_on_from_itself_does_not_make_a_name_a_subagent() -> None:
    table = Table(cap=2, policy="subagents-first")
    table.keep("main")
    table.keep("main", parent="main")
    table.keep("sub", parent="main")
    table.keep("newcomer")
    assert table.names.live() == ["main", "newcomer"]


def test_parents_last_spares_a_parent_that_is_older() -> None:
    table = Table(cap=3, policy="parents-last")
    table.keep("main")
    table.keep("sub", parent="main")
    table.keep("other")
    table.keep("newcomer")
    assert table.names.live() == ["main", "other", "newcomer"]


def test_idle_first_spares_a_name_in_use() -> None:
    table = Table(cap=2, policy="idle-first")
    table.keep("a")
    table.names.begin("a", SYSTEM)
    table.keep("b")
    table.keep("c")
    assert table.names.live() == ["a", "c"]


def test_quiet_else_newest_waits_until_somebody_is_quiet() -> None:
    table = Table(cap=2, ttl=1000, policy="quiet-else-newest")
    table.keep("a")
    table.now = 30
    table.keep("b")
    table.keep("c")
    assert table.names.live() == ["a", "c"]
    table.now = 91
    table.keep("c")
    table.keep("d")
    assert table.names.live() == ["c", "d"]


def test_random_uses_the_given_generator() -> None:
    def survivors() -> list[str]:
        table = Table(cap=4, policy="random")
        for number in range(30):
            table.keep(str(number))
        return table.names.live()

    assert survivors() == survivors()
    assert survivors() != ["26", "27", "28", "29"]
