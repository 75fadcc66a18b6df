"""A tree search: a few children of each of the best nodes, level by level; back to the root."""

from halogen_conformance.drivers.conversation import Conversation
from halogen_simulator.harness.scenarios.brief import RULES, TASK
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Stage
from halogen_simulator.harness.scenarios.step import Ask, Point

ABOUT = "a tree of a given depth, its best nodes expanded level by level"


def names(size: Size) -> int:
    """Names kept at once, whatever the depth."""
    # The root, the nodes being expanded, and all their children: which are best shows only then.
    return 1 + size.breadth + size.breadth**2


def play(stage: Stage, size: Size) -> None:
    """Raises Broken."""
    root_name, *free = stage.names
    root = stage.alone(Ask("root", Conversation().system(RULES).user(TASK), keep=root_name))
    frontier = [root]
    for level in range(1, size.depth + 1):
        asks = [
            _child(parent, level, n, free.pop())
            for parent in frontier
            for n in range(1, size.breadth + 1)
        ]
        children = stage.at_once(asks)
        stage.compare(asks, children)
        best = sorted(children, key=_worth, reverse=True)[: size.breadth]
        # The names of parents and of children that are not followed are kept under again.
        done = [*(frontier if frontier != [root] else []), *children]
        free += [one.name for one in done if one.name and one not in best]
        frontier = best
    final = [Ask("the best answer", frontier[0].then("Say it in one sentence."), frontier[0])]
    stage.at_once([*final, Ask("back to the root", root.then("Start anew."), root)])


def _child(parent: Point, level: int, n: int, name: str) -> Ask:
    label = f"{parent.label}.{n}" if level > 1 else f"node {n}"
    return Ask(label, parent.then(f"Propose option {n} for step {level}."), parent, name)


def _worth(point: Point) -> int:
    """Any measure does that gives the same order on every run: here, how many different words."""
    return len(set(point.reply.split()))
