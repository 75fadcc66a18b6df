"""The figures to reach, each with what was measured."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.bookkeeping import Bookkeeping
from bench.fanout import FanOut
from bench.ours import AGAIN, COLD_DIFFERENT, COLD_SAME, FIRST, OTHER, Round
from bench.restart import Restart

SOONER, OF_BARE, BOOKKEEPING_S, LINEAR = 10.0, 0.9, 0.001, 1.5
_MESSAGES = 200

_FIGURES: dict[str, Callable[[FanOut], float]] = {
    "TTFT p50": lambda one: one.first_p50,
    "wall": lambda one: one.wall,
}
_AT_MOST = (
    ("wall", COLD_SAME, (COLD_SAME,)),
    ("TTFT p50", FIRST, (FIRST, OTHER)),
    ("wall", FIRST, (FIRST, OTHER)),
    ("TTFT p50", AGAIN, (AGAIN,)),
    ("wall", AGAIN, (AGAIN,)),
)
"""A figure, our fan-out, and those of every other server of which it may not exceed the best. The
first after a keep is held against what another reaches once it is warm; the same requests again
are held against the same again, where another may have nothing left to read."""


@dataclass(frozen=True, slots=True)
class Target:
    """One figure. ``met`` is None where there is nothing to meet, or nothing was measured."""

    text: str
    wanted: str
    measured: str
    met: bool | None


def targets(
    rounds: Sequence[Round],
    books: Bookkeeping,
    back: Restart,
    peers: Mapping[str, Mapping[str, FanOut]],
) -> list[Target]:
    """Ratios are taken inside a round and the median of the rounds is judged: what else the
    machine does changes from one minute to the next."""
    return [
        _sooner(rounds, COLD_DIFFERENT),
        _sooner(rounds, COLD_SAME),
        _decode(rounds),
        _cells(rounds),
        *_books(books),
        _restart(back),
        *beside(rounds, peers),
    ]


def _sooner(rounds: Sequence[Round], cold: str) -> Target:
    """Judged against a fan-out that has nothing to share. Where the history is the same, the
    server evaluates it once for all, kept or not: that ratio is shown and not judged."""
    ratios = [r.fan_outs[cold].first_p50 / r.fan_outs[FIRST].first_p50 for r in rounds]
    text, measured = f"TTFT p50: {FIRST} sooner than {cold}", _spread(ratios, " x")
    if cold != COLD_DIFFERENT:
        return Target(text, "-", measured, None)
    return Target(text, f">= {SOONER:.0f} x", measured, median(ratios) >= SOONER)


def _decode(rounds: Sequence[Round]) -> Target:
    """The better of two fan-outs by the better of two bare loops: see ``bare.REPEATS``."""
    ratios = []
    for r in rounds:
        rates = [rate for title in (FIRST, AGAIN) if (rate := r.fan_outs[title].decode)]
        if rates:
            ratios.append(max(rates) / r.bare.decode)
    text = "decode rate of the kept history's fan-outs, of the bare loop's"
    if not ratios:
        measured = "the replies were never all being decoded: give --tokens more"
        return Target(text, f">= {OF_BARE}", measured, None)
    return Target(text, f">= {OF_BARE}", _spread(ratios, ""), median(ratios) >= OF_BARE)


def _cells(rounds: Sequence[Round]) -> Target:
    cells = [r.cells for r in rounds]
    wrong = [c for c in cells if c.used != c.history + c.own]
    shown = (wrong or cells)[0]
    measured = f"{shown.used:,} = {shown.history:,} + {shown.own:,}"
    if wrong:
        measured = f"{shown.used:,}, not {shown.history + shown.own:,}"
    return Target("KV cells of kept forks", "= history + own tokens", measured, not wrong)


def _books(books: Bookkeeping) -> list[Target]:
    """Linear: the time for each message may not grow with the number of messages."""
    shortest, longest = min(books.p50), max(books.p50)
    growth = (books.p50[longest] / longest) / (books.p50[shortest] / shortest)
    took = books.p50[_MESSAGES]
    times = ", ".join(f"{seconds * 1000:.2f}" for seconds in books.p50.values())
    lengths = ", ".join(str(length) for length in books.p50)
    return [
        Target(
            f"match, name and list, p50, history of {_MESSAGES} messages",
            f"<= {BOOKKEEPING_S * 1000:.0f} ms",
            f"{took * 1000:.2f} ms",
            took <= BOOKKEEPING_S,
        ),
        Target(
            f"the same for {lengths} messages: linear",
            f"<= {LINEAR} x a message",
            f"{growth:.2f} x ({times} ms)",
            growth <= LINEAR,
        ),
    ]


def _restart(back: Restart) -> Target:
    ratio = back.cold / back.fork
    return Target(
        f"restart with {back.names} names: TTFT of the first fork, sooner than cold",
        f">= {SOONER:.0f} x",
        f"{ratio:.2f} x ({back.fork:.2f} s, {back.cold:.2f} s, {back.tokens:,} tokens)",
        ratio >= SOONER,
    )


def beside(rounds: Sequence[Round], peers: Mapping[str, Mapping[str, FanOut]]) -> list[Target]:
    """Ours of each round by the other's best, both of this run."""
    found = []
    for server, measured in peers.items():
        for figure, title, of in _AT_MOST:
            theirs = min(_FIGURES[figure](measured[other]) for other in of)
            ours = [_FIGURES[figure](r.fan_outs[title]) for r in rounds]
            against = f"{server}'s" if of == (title,) else f"{server}'s best, first or warm"
            found.append(
                Target(
                    f"{figure}, {title}: of {against}",
                    "<= 1 x",
                    f"{_spread([one / theirs for one in ours], ' x')}; "
                    f"{median(ours):.2f} s, {theirs:.2f} s",
                    median(ours) <= theirs,
                )
            )
    return found


def _spread(values: Sequence[float], unit: str) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}{unit}"
    return f"{median(values):.2f}{unit} ({min(values):.2f} to {max(values):.2f})"
