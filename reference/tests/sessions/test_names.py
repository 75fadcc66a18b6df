"""Names with a clock and a cap: KEEP-3, LIFE-1 to 6, LIST-1."""

import pytest

from halogen_reference.sessions.names import Entry, NameTable
from tests.sessions.fakes import Clock, FakeState, kept

TTL = 10.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(clock: Clock) -> NameTable:
    return NameTable(ttl=TTL, cap=3, clock=clock)


def put(table: NameTable, name: str, state: FakeState | None = None) -> Entry:
    return table.keep(name, kept(state), parent=None, source="header")


def names(table: NameTable) -> list[str]:
    return [entry.name for entry in table.live()]


def test_an_unused_name_goes_when_its_time_is_up(table: NameTable, clock: Clock) -> None:
    """LIFE-1: exactly then, not listed and not found, and its memory is free."""
    state = FakeState()
    entry = put(table, "a", state)
    assert table.expires_at(entry) == clock.now + TTL
    clock.now += TTL - 0.001
    assert table.find("a") is entry and len(table) == 1
    clock.now += 0.001
    assert table.find("a") is None and names(table) == [] and state.references == 0


def test_listing_and_looking_are_no_use(table: NameTable, clock: Clock) -> None:
    """LIFE-2."""
    entry = put(table, "a")
    for _ in range(5):
        clock.now += TTL / 5
        table.live(), table.find("a"), len(table), table.expires_at(entry)
    assert names(table) == []


def test_the_clock_runs_from_the_end_of_a_use(table: NameTable, clock: Clock) -> None:
    """LIFE-2: a request that takes longer than the time to live does not lose its name."""
    entry = put(table, "a")
    table.begin_use(entry)
    clock.now += 3 * TTL
    assert table.find("a") is entry and table.expires_at(entry) == clock.now + TTL
    table.end_use(entry)
    clock.now += TTL - 1
    assert table.find("a") is entry
    clock.now += 1
    assert table.find("a") is None


def test_the_last_of_several_users_starts_the_clock(table: NameTable, clock: Clock) -> None:
    entry = put(table, "a")
    table.begin_use(entry)
    table.begin_use(entry)
    table.end_use(entry)
    clock.now += 2 * TTL
    assert table.find("a") is entry
    table.end_use(entry)
    clock.now += TTL
    assert table.find("a") is None


def test_keeping_starts_the_clock_anew(table: NameTable, clock: Clock) -> None:
    """LIFE-2; and the name is as old as it was."""
    born = put(table, "a").created_at
    clock.now += TTL - 1
    entry = put(table, "a")
    clock.now += TTL - 1
    assert table.find("a") is entry and entry.created_at == born


def test_the_least_recently_used_makes_room(table: NameTable) -> None:
    """LIFE-3, LIFE-5."""
    entries = {name: put(table, name) for name in "abc"}
    table.begin_use(entries["a"])
    table.end_use(entries["a"])
    put(table, "d")
    assert names(table) == ["c", "a", "d"]


def test_keeping_a_live_name_costs_nobody_a_place(table: NameTable) -> None:
    """KEEP-3: with every place taken."""
    old, new = FakeState(), FakeState()
    put(table, "a", old)
    put(table, "b")
    put(table, "c")
    put(table, "a", new)
    assert sorted(names(table)) == ["a", "b", "c"]
    assert (old.references, new.references) == (0, 1)


def test_an_expired_name_costs_nobody_a_place(table: NameTable, clock: Clock) -> None:
    for name in "abc":
        entry = put(table, name)
        if name != "a":
            table.begin_use(entry)
    clock.now += TTL
    put(table, "d")
    assert names(table) == ["b", "c", "d"]


def test_a_name_released_in_use_does_not_come_back(table: NameTable, clock: Clock) -> None:
    """LIFE-6: the request goes on with a state of its own and ends quietly."""
    state = FakeState()
    entry = put(table, "a", state)
    table.begin_use(entry)
    state.retain()
    table.release("a")
    assert state.references == 1, "the request's own"
    table.end_use(entry)
    assert names(table) == [] and state.references == 1


def test_the_end_of_an_old_use_does_not_touch_a_new_name(table: NameTable) -> None:
    """Released in use, and kept again under the same name meanwhile."""
    old = put(table, "a")
    table.begin_use(old)
    table.release("a")
    new = put(table, "a")
    put(table, "b")
    table.end_use(old)
    assert table.find("a") is new and names(table) == ["a", "b"] and new.users == 0


def test_there_may_be_nothing_to_release(table: NameTable, clock: Clock) -> None:
    assert not table.release_least_recent() and not table.give_memory()
    put(table, "a")
    clock.now += TTL
    assert not table.release_least_recent() and not table.give_memory()


def test_a_name_on_disk_sleeps_when_memory_is_short(table: NameTable) -> None:
    state = FakeState()
    entry = put(table, "a", state)
    put(table, "b")
    entry.on_disk = True
    assert table.give_memory()
    assert names(table) == ["a", "b"] and state.references == 0
    assert table.give_memory()
    assert names(table) == ["a"], "the next one has no file"
    woken = kept()
    table.wake(entry, woken)
    assert entry.kept is woken


def test_a_name_that_went_while_it_was_woken_stays_gone(table: NameTable) -> None:
    entry = put(table, "a")
    table.release("a")
    state = FakeState()
    table.wake(entry, kept(state))
    assert names(table) == [] and state.references == 0
