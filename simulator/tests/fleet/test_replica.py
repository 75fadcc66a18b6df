"""A simulated server's times, against arithmetic and against a loop that takes every step."""

from dataclasses import replace
from random import Random

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from halogen_simulator.fleet.agents import Ask, Kind
from halogen_simulator.fleet.history import Piece, Role
from halogen_simulator.fleet.record import Record
from halogen_simulator.fleet.replica import Replica
from halogen_simulator.fleet.service import Service
from halogen_simulator.profile import Profile

# Round numbers: a batch decodes n replies in 10 + n ms, and reads 100 tokens in 100 ms.
PROFILE = Profile(
    name="round",
    about="",
    prefill=((100, 1000.0),),
    step_s=0.010,
    row_s=0.001,
    bytes_per_token=1,
    chunk_alone=100,
    chunk_beside=100,
)


class Bench:
    """One server and a clock."""

    def __init__(self, service: Service | None = None, profile: Profile = PROFILE) -> None:
        self.env = simpy.Environment()
        self.record = Record()
        self.replica = Replica(self.env, service or Service(), profile, self.record, Random(0))

    def ask(self, prompt: int, reply: int, *, at: float = 0.0) -> None:
        self.send(Ask(0, Kind.SIDE, None, None, Piece(Role.USER, prompt), reply), at)

    def send(self, ask: Ask, at: float = 0.0) -> None:
        arrival = self.env.timeout(at)
        assert arrival.callbacks is not None

        def arrive(_: simpy.Event) -> None:
            self.replica.submit(ask)

        arrival.callbacks.append(arrive)

    def run(self) -> list[float]:
        self.env.run()
        return list(self.record.ttft)


def test_a_request_alone() -> None:
    bench = Bench()
    bench.ask(1000, 101)
    assert bench.run() == pytest.approx([1.0])
    assert bench.env.now == pytest.approx(1.0 + 100 * 0.011)


def test_replies_share_the_steps() -> None:
    """The second is read in 10 chunks beside the first, which gets 10 tokens meanwhile."""
    bench = Bench()
    bench.ask(1000, 1001)
    bench.ask(1000, 1001, at=1.0)
    ttft = bench.run()
    assert ttft == pytest.approx([1.0, 10 * (0.100 + 0.011)])
    together = 990 * 0.012
    assert bench.env.now == pytest.approx(1.0 + 1.11 + together + 10 * 0.011)


def test_a_slot_is_waited_for() -> None:
    bench = Bench(Service(slots=1))
    bench.ask(1000, 1)
    bench.ask(1000, 1)
    assert bench.run() == pytest.approx([1.0, 2.0])


def test_only_what_follows_the_name_is_read() -> None:
    bench = Bench()
    first = Ask(0, Kind.MAIN, None, "a", Piece(Role.USER, 1000), 10)
    second = Ask(0, Kind.MAIN, "a", "a", first.answer.then(Role.USER, 50), 10)
    bench.send(first)
    bench.send(second, at=100)
    assert bench.run() == pytest.approx([1.0, 0.05])
    assert list(bench.record.evaluated) == [1000, 50]
    assert bench.replica.memory.used == 1070, "shared, and what was kept last is all that is left"


def test_a_full_pool_releases_names_before_anyone_waits() -> None:
    bench = Bench(Service(pool=1500))
    bench.send(Ask(0, Kind.MAIN, None, "a", Piece(Role.USER, 800), 10))
    bench.send(Ask(0, Kind.MAIN, None, "b", Piece(Role.USER, 800), 10), at=100)
    assert bench.run() == pytest.approx([0.8, 0.8])
    assert bench.replica.names.live() == ["b"]
    assert bench.replica.memory.peak <= 1500


def test_a_full_pool_makes_requests_wait_for_those_that_run() -> None:
    bench = Bench(Service(pool=1500))
    bench.ask(1000, 1)
    bench.ask(1000, 1)
    assert bench.run() == pytest.approx([1.0, 2.0])
    assert bench.replica.memory.peak <= 1500


def test_states_that_only_waiting_requests_hold_give_way() -> None:
    """b's name is gone, but the request that starts from it still holds its state: it must not
    stop the one before it for ever."""
    bench = Bench(Service(pool=1500, slots=1))
    first = Ask(0, Kind.MAIN, None, "b", Piece(Role.USER, 700), 10)
    bench.send(first)
    bench.ask(700, 10, at=100)
    bench.ask(1400, 10, at=100)
    bench.send(Ask(0, Kind.MAIN, "b", None, first.answer.then(Role.USER, 10), 10), at=100.1)
    assert len(bench.run()) == 4
    assert list(bench.record.evaluated) == [700, 700, 1400, 720]


def test_a_request_that_fits_no_pool_is_told() -> None:
    bench = Bench(Service(pool=500))
    bench.ask(1000, 1)
    with pytest.raises(ValueError, match="set a larger pool"):
        bench.run()


REQUESTS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(1, 900), st.integers(1, 60)),
    min_size=1,
    max_size=12,
)


def by_steps(requests: list[tuple[float, int, int]], slots: int) -> tuple[list[float], float]:
    """Every batch, one after the other: (times to the first token in order of arrival, the end)."""
    waiting = sorted(enumerate(requests), key=lambda pair: (pair[1][0], pair[0]))
    reading: list[list[float]] = []
    decoding: list[list[float]] = []
    ttft = dict[int, float]()
    now = 0.0
    while waiting or reading or decoding:
        while waiting and waiting[0][1][0] <= now and len(reading) + len(decoding) < slots:
            number, (_, prompt, reply) = waiting.pop(0)
            reading.append([number, prompt, reply])
        if not reading and not decoding:
            now = waiting[0][1][0]
            continue
        chunk = min(1.0, reading[0][1]) if reading else 0.0
        step = (PROFILE_FINE.decode_s(len(decoding)) if decoding else 0) + chunk / 1000
        now += step
        decoding = [[n, left - 1, 0] for n, left, _ in decoding]
        decoding = [reply for reply in decoding if reply[1] > 0]
        if reading:
            reading[0][1] -= chunk
            if reading[0][1] <= 0:
                number_f, _, reply_f = reading.pop(0)
                number = int(number_f)
                ttft[number] = now - requests[number][0]
                if reply_f > 1:
                    decoding.append([number, reply_f - 1, 0])
    return [ttft[number] for number in range(len(requests))], now


# Chunks of one token and short steps: what falls between two steps is small.
PROFILE_FINE = replace(
    PROFILE, step_s=0.0010, row_s=0.0001, prefill=((1, 1000.0),), chunk_alone=1, chunk_beside=1
)


@settings(max_examples=40, deadline=None)
@given(REQUESTS, st.integers(1, 4))
def test_the_short_cut_agrees_with_every_single_step(
    drawn: list[tuple[int, int, int]], slots: int
) -> None:
    requests = [(at / 1000, prompt, reply) for at, prompt, reply in drawn]
    bench = Bench(Service(slots=slots), PROFILE_FINE)
    for at, prompt, reply in requests:
        bench.ask(prompt, reply, at=at)
    bench.run()
    ttft, end = by_steps(requests, slots)
    # Each change of company may cost a step that is not shared.
    slack = 0.003 * (2 * len(requests) + 1)
    assert bench.env.now == pytest.approx(end, abs=slack)
    assert sorted(bench.record.ttft) == pytest.approx(sorted(ttft), abs=slack)


def test_a_profile_without_times_takes_none() -> None:
    instant = replace(PROFILE, prefill=(), step_s=0.0, row_s=0.0)
    bench = Bench(profile=instant)
    bench.ask(1000, 100, at=5)
    assert bench.run() == [0.0]
    assert bench.env.now == 5


@pytest.mark.parametrize(
    ("half", "ends"),
    [
        # Reading is free, yet the second is read in ten chunks beside the first's tokens.
        (replace(PROFILE, prefill=()), 10 * 0.011 + 90 * 0.012 + 10 * 0.011),
        (replace(PROFILE, step_s=0.0, row_s=0.0), 2.0),
    ],
)
def test_half_of_a_profile_may_be_free(half: Profile, ends: float) -> None:
    bench = Bench(profile=half)
    bench.ask(1000, 101)
    bench.ask(1000, 101)
    assert len(bench.run()) == 2
    assert bench.env.now == pytest.approx(ends)
