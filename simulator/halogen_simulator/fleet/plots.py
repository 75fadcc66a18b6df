"""Results as pictures: SVG for documents, PNG for everywhere else."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # (the backend is chosen first)
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from halogen_simulator.fleet.tables import number, seconds
from halogen_simulator.fleet.trials import Outcomes

matplotlib.rcParams["svg.fonttype"] = "none"  # letters as text: half the size
# Without these two the same figures would give another file each time.
matplotlib.rcParams["svg.hashsalt"] = "halogen"
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}

_PANELS = {
    "used": "starts that were used",
    "warm": "conversations always warm",
    "read_share": "prompt tokens read",
}
_MARKERS = "osD^vP*X<>hd"


def by_programs(results: Sequence[Outcomes], file: Path) -> list[Path]:
    """The study: one panel a figure, one line a policy, over the number of programs."""
    figure, panels = pyplot.subplots(
        1, len(_PANELS), figsize=(11, 4.2), sharey=True, layout="constrained"
    )
    for axes, (name, title) in zip(panels, _PANELS.items(), strict=True):
        counts = sorted({result.trial.workload.programs for result in results})
        policies = _policies(results)
        for index, policy in enumerate(policies):
            own = [result for result in results if result.trial.service.policy == policy]
            # Side by side, so that the bars of the seeds' deviation do not hide each other.
            places = [
                counts.index(result.trial.workload.programs)
                + 0.03 * (index - (len(policies) - 1) / 2)
                for result in own
            ]
            _line(axes, places, own, name, policy, index)
        axes.set_xticks(range(len(counts)), [str(count) for count in counts])
        axes.set_xlabel("agent programs")
        axes.set_title(title, fontsize=10)
    return _save(figure, panels[0], file)


def by_cap(results: Sequence[Outcomes], file: Path) -> list[Path]:
    """The sweep: one panel a time to live, one line a policy, over the cap."""
    ttls = sorted({result.trial.service.ttl for result in results})
    caps = sorted({result.trial.service.cap for result in results})
    figure, grid = pyplot.subplots(
        1,
        len(ttls),
        figsize=(2.4 + 3 * len(ttls), 4.2),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, ttl in zip(grid[0], ttls, strict=True):
        for index, policy in enumerate(_policies(results)):
            own = [
                result
                for result in results
                if (result.trial.service.policy, result.trial.service.ttl) == (policy, ttl)
            ]
            places = [float(caps.index(result.trial.service.cap)) for result in own]
            _line(axes, places, own, "used", policy, index)
        axes.set_xticks(range(len(caps)), [number(cap) for cap in caps])
        axes.set_xlabel("names at most")
        axes.set_title(f"starts that were used, TTL {seconds(ttl)}", fontsize=10)
    return _save(figure, grid[0][0], file)


def _policies(results: Sequence[Outcomes]) -> list[str]:
    return list(dict.fromkeys(result.trial.service.policy for result in results))


def _line(
    axes: Axes,
    places: Sequence[float],
    results: Sequence[Outcomes],
    figure: str,
    policy: str,
    index: int,
) -> None:
    spreads = [result.spread(figure) for result in results]
    axes.errorbar(
        places,
        [100 * spread.mean for spread in spreads],
        [100 * spread.deviation for spread in spreads],
        label=policy,
        marker=_MARKERS[index % len(_MARKERS)],
        color=f"C{index % 10}" if index < 10 else "black",
        markersize=4,
        linewidth=1,
        elinewidth=0.7,
    )


def _save(figure: Figure, first: Axes, file: Path) -> list[Path]:
    first.set_ylim(0, 103)
    first.set_ylabel("per cent")
    for axes in figure.axes:
        axes.grid(alpha=0.3)
    handles, labels = first.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", fontsize=8, frameon=False)
    written = []
    for kind, metadata in _METADATA.items():
        path = file.with_suffix(f".{kind}")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata=metadata, dpi=80)
        written.append(path)
    pyplot.close(figure)
    return written
