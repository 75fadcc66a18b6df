"""Any sequence of keeps, uses, looks and waits, against a model that is a plain list."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from halogen_reference.sessions.names import Entry, NameTable
from tests.sessions.fakes import Clock, FakeState, kept

TTL, CAP = 10.0, 3
NAMES = st.sampled_from("abcde")


@dataclass
class Model:
    """One live name as it should be; the list is in order of use."""

    name: str
    state: FakeState
    used_at: float
    users: int = 0


@dataclass
class User:
    """A request that started from a name and is under way."""

    entry: Entry
    state: FakeState
    name: Model = field(repr=False)


class Names(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.table = NameTable(ttl=TTL, cap=CAP, clock=self.clock)
        self.live: list[Model] = []
        self.users: list[User] = []
        self.states: list[FakeState] = []

    def expire(self) -> None:
        self.live = [n for n in self.live if n.users or n.used_at + TTL > self.clock.now]

    def known(self, name: str) -> Model | None:
        self.expire()
        return next((there for there in self.live if there.name == name), None)

    @rule(name=NAMES)
    def keep(self, name: str) -> None:
        state = FakeState()
        self.states.append(state)
        there = self.known(name)
        if there is None:
            # LIFE-5; KEEP-3: only a new name costs the least recently used one its place.
            if len(self.live) == CAP:
                del self.live[0]
            there = Model(name, state, self.clock.now)
        else:
            self.live.remove(there)
        there.state, there.used_at = state, self.clock.now
        self.live.append(there)
        self.table.keep(name, kept(state), parent=None, source="header")

    @rule(name=NAMES)
    def find(self, name: str) -> None:
        there, found = self.known(name), self.table.find(name)
        assert (found and found.kept.state) is (there and there.state)

    @rule(name=NAMES)
    def begin(self, name: str) -> None:
        there, entry = self.known(name), self.table.find(name)
        if there is None or entry is None:
            return
        there.users += 1
        self.use(there)
        self.table.begin_use(entry)
        there.state.retain()
        self.users.append(User(entry, there.state, there))

    @precondition(lambda self: self.users)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        user = self.users.pop(data.draw(st.integers(0, len(self.users) - 1)))
        # LIFE-6: the state was good until now, whatever became of the name.
        assert user.state.references > 0
        user.state.release()
        self.expire()
        user.name.users -= 1
        if user.name in self.live:
            self.use(user.name)
        self.table.end_use(user.entry)

    def use(self, name: Model) -> None:
        name.used_at = self.clock.now
        self.live.remove(name)
        self.live.append(name)

    @rule(seconds=st.sampled_from([1.0, 4.0, TTL]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule()
    def press(self) -> None:
        self.expire()
        assert self.table.release_least_recent() is bool(self.live)
        del self.live[:1]

    @rule(name=NAMES)
    def release(self, name: str) -> None:
        there = self.known(name)
        if there is not None and self.table.find(name):
            self.live.remove(there)
            self.table.release(name)

    @invariant()
    def listed(self) -> None:
        """LIST-1, LIFE-1 to 3, 5: these names, in this order, and no more than allowed."""
        self.expire()
        entries = self.table.live()
        assert [entry.name for entry in entries] == [there.name for there in self.live]
        assert len(entries) == len(self.table) <= CAP
        for entry, there in zip(entries, self.live, strict=True):
            assert entry.kept.state is there.state
            assert entry.users == there.users
            since = self.clock.now if there.users else there.used_at
            assert self.table.expires_at(entry) == since + TTL > self.clock.now

    @invariant()
    def counted(self) -> None:
        """One reference for a live name, one for each user, and nothing is left of the rest."""
        self.expire()
        self.table.live()
        for state in self.states:
            held = sum(there.state is state for there in self.live)
            held += sum(user.state is state for user in self.users)
            assert state.references == held


TestNames = Names.TestCase
TestNames.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
