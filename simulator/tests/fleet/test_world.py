"""Whole runs: the same seed gives the same run, and nothing impossible happens in any."""

import itertools
import math
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halogen_simulator.fleet.agents import Ask, Fan, Kind, Steps, Think, programs
from halogen_simulator.fleet.history import Piece, Role
from halogen_simulator.fleet.names import Outcome
from halogen_simulator.fleet.policies import POLICIES
from halogen_simulator.fleet.record import Figures, Record
from halogen_simulator.fleet.routing import ROUTES
from halogen_simulator.fleet.service import Service
from halogen_simulator.fleet.workload import Workload
from halogen_simulator.fleet.world import World, simulate
from halogen_simulator.profile import load

INSTANT, TIMED = load("instant"), load("example-accelerator")
SMALL = Workload(programs=3, subagents=4, turns=3)

workloads = st.builds(
    Workload,
    seed=st.integers(0, 10**6),
    programs=st.integers(1, 4),
    subagents=st.integers(0, 5),
    turns=st.integers(1, 4),
    fan_out=st.floats(0, 1),
    fork=st.floats(0, 1),
    side=st.floats(0, 1),
    rewrite=st.floats(0, 1),
    arrival_s=st.floats(0, 60),
    context=st.sampled_from([24_000, 64_000]),
)
services = st.builds(
    Service,
    servers=st.integers(1, 3),
    routing=st.sampled_from(sorted(ROUTES)),
    cap=st.sampled_from([0.0, 1.0, 3.0, 8.0, math.inf]),
    ttl=st.sampled_from([1.0, 60.0, 600.0, math.inf]),
    policy=st.sampled_from(sorted(POLICIES)),
    pool=st.sampled_from([70_000.0, math.inf]),
    slots=st.integers(1, 8),
)
profiles = st.sampled_from([INSTANT, TIMED])


def same(one: Figures, other: Figures) -> bool:
    """Equal in every figure; NaN equals NaN."""
    return repr(asdict(one)) == repr(asdict(other))


@settings(max_examples=60, deadline=None)
@given(workloads, services, profiles)
def test_nothing_impossible_happens(workload, service, profile) -> None:  # type: ignore[no-untyped-def]
    world = World(workload, service, profile)
    figures = world.run()
    record = world.record
    assert figures.names_most <= service.cap
    assert figures.memory_peak <= service.pool
    assert all(
        0 < evaluated <= prompt
        for evaluated, prompt in zip(record.evaluated, record.prompt, strict=True)
    )
    assert all(ttft >= 0 for ttft in record.ttft)
    if figures.starts:
        assert figures.used + figures.unmatched + figures.unknown == pytest.approx(1)
    else:
        assert math.isnan(figures.used)
    # At the end only kept states hold memory, and they hold nothing that is not theirs.
    for replica in world.replicas:
        assert replica.load == 0
        for name in replica.names.live():
            replica.names.release(replica.names._live[name])
        assert replica.memory.used == 0


@settings(max_examples=15, deadline=None)
@given(workloads, services, profiles)
def test_the_same_seed_gives_the_same_run(workload, service, profile) -> None:  # type: ignore[no-untyped-def]
    assert same(simulate(workload, service, profile), simulate(workload, service, profile))


def test_another_seed_gives_another_run() -> None:
    assert not same(
        simulate(SMALL, Service(), INSTANT), simulate(replace(SMALL, seed=1), Service(), INSTANT)
    )


@settings(max_examples=25, deadline=None)
@given(workloads, services, services, profiles, profiles)
def test_agents_do_the_same_whatever_serves_them(  # type: ignore[no-untyped-def]
    workload, one, other, profile, another
) -> None:
    """Settings are compared on equal work: only then do their differences mean anything."""
    first, second = World(workload, one, profile), World(workload, other, another)
    first.run()
    second.run()
    assert sorted(first.record.prompt) == sorted(second.record.prompt)


@settings(max_examples=25, deadline=None)
@given(workloads, profiles)
def test_without_limits_everything_that_repeats_is_used(workload, profile) -> None:  # type: ignore[no-untyped-def]
    """One server that never releases a name: only a history that changed is read again."""
    figures = simulate(workload, Service(cap=math.inf, ttl=math.inf), profile)
    if figures.starts:
        assert figures.unknown == 0
    calm = simulate(
        replace(workload, rewrite=0.0, context=10**9), Service(cap=math.inf, ttl=math.inf), profile
    )
    if calm.starts:
        assert calm.used == 1
        assert calm.warm == 1 or math.isnan(calm.warm)


def test_without_sessions_everything_is_read() -> None:
    figures = simulate(SMALL, Service(cap=0), INSTANT)
    assert figures.starts == 0
    assert figures.evaluated == figures.prompt
    assert figures.names_most == 0


def test_sessions_save_reading_and_waiting() -> None:
    on, off = (simulate(SMALL, Service(cap=cap), TIMED) for cap in (math.inf, 0.0))
    assert on.evaluated < off.evaluated / 3
    assert on.ttft_p50 < off.ttft_p50


def test_more_names_never_use_less() -> None:
    """With lru: what a small table holds, a larger one holds too."""
    used = [simulate(SMALL, Service(cap=cap), INSTANT).used for cap in (1, 2, 4, 8, 16, math.inf)]
    assert used == sorted(used)
    assert used[0] < used[-1]


def test_a_name_that_is_hashed_finds_its_server_and_one_at_random_does_not() -> None:
    shares = {
        routing: simulate(
            SMALL, Service(servers=4, cap=math.inf, ttl=math.inf, routing=routing), INSTANT
        ).used
        for routing in ROUTES
    }
    assert shares["program"] > 0.95
    assert shares["program"] > shares["name"] > shares["random"]


@pytest.mark.parametrize(
    "service",
    [
        Service(servers=3, routing="random"),
        Service(policy="random", cap=3),
    ],
)
def test_chance_follows_the_seed(service: Service) -> None:
    assert same(simulate(SMALL, service, INSTANT), simulate(SMALL, service, INSTANT))


def test_a_conversation_that_missed_once_is_never_warm_again() -> None:
    record, piece = Record(), Piece(Role.SYSTEM, 1)
    for name, outcomes in {
        "always": (Outcome.USED, Outcome.USED),
        "late": (Outcome.USED, Outcome.UNKNOWN),
        "early": (Outcome.UNMATCHED, Outcome.USED),
    }.items():
        record.add(Ask(0, Kind.MAIN, None, name, piece, 1), Outcome.ABSENT, 1, 1, 0.0)
        for outcome in outcomes:
            record.add(Ask(0, Kind.MAIN, name, name, piece, 1), outcome, 1, 1, 0.0)
    record.add(Ask(0, Kind.MAIN, None, "single", piece, 1), Outcome.ABSENT, 1, 1, 0.0)
    figures = record.figures(seconds=1)
    assert figures.warm == pytest.approx(1 / 3)
    assert (figures.used, figures.unmatched, figures.unknown) == pytest.approx(
        (4 / 6, 1 / 6, 1 / 6)
    )
    assert math.isnan(figures.by_kind["fork"])


def played(steps: Steps) -> list[Ask]:
    asks: list[Ask] = []
    for step in steps:
        match step:
            case Ask():
                asks.append(step)
            case Think(seconds):
                assert seconds >= 0
            case Fan(agents):
                asks += [ask for agent in agents for ask in played(agent)]
    return asks


def test_a_conversation_starts_from_the_name_that_it_kept() -> None:
    load = replace(SMALL, rewrite=0.0, fan_out=1.0, side=1.0)
    for steps in programs(load):
        kept = dict[str, Ask]()
        for ask in played(steps):
            if ask.start_from is not None:
                assert ask.history.repeats(kept[ask.start_from].answer)
            else:
                assert ask.keep not in kept
            if ask.keep is not None:
                kept[ask.keep] = ask
        assert len(kept) == 1 + load.subagents * load.turns


def test_forks_start_from_the_main_conversation_and_side_requests_keep_nothing() -> None:
    asks = [
        ask for steps in programs(replace(SMALL, fan_out=1.0, side=1.0)) for ask in played(steps)
    ]
    forks = [ask for ask in asks if ask.kind is Kind.FORK]
    assert len(forks) == SMALL.programs * SMALL.turns * SMALL.subagents
    assert all(ask.start_from == f"program-{ask.program}" != ask.keep for ask in forks)
    assert all(ask.keep is None for ask in asks if ask.kind is Kind.SIDE)


def test_histories_stay_inside_the_context() -> None:
    # Long replies, so that many end just at the limit.
    load = replace(SMALL, turns=30, side=1.0, reply_tokens=3000, token_sigma=2.0, context=120_000)
    asks = [ask for steps in programs(load) for ask in played(steps)]
    assert max(ask.answer.total for ask in asks) <= load.context
    main = [ask for ask in asks if ask.kind is Kind.MAIN and ask.program == 0]
    assert any(
        later.history.total < earlier.answer.total for earlier, later in itertools.pairwise(main)
    ), "and they are compacted, not just short"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"fan_out": 1.5}, "share"),
        ({"programs": 0}, "at least 1"),
        ({"think_s": 0}, "above 0"),
        ({"arrival_s": -1}, "below 0"),
        ({"context": 5000}, "context is too small"),
    ],
)
def test_a_workload_that_makes_no_sense(settings: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Workload(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"policy": "best"}, "choose from lru"),
        ({"routing": "lucky"}, "choose from program"),
        ({"cap": 1.5}, "whole number"),
        ({"ttl": 0}, "above 0"),
        ({"slots": 0}, "at least 1"),
    ],
)
def test_a_service_that_makes_no_sense(settings: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Service(**settings)  # type: ignore[arg-type]
