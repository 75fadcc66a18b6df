"""Candidates for the rest of one reply, branched from inside it (BRANCH); the best goes on."""

from dataclasses import replace

from halogen_conformance.drivers.conversation import Conversation
from halogen_simulator.harness.scenarios.brief import COUNT, RULES
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Broken, Stage
from halogen_simulator.harness.scenarios.step import Ask

ABOUT = "candidates for the rest of a reply, from inside it; the best goes on"
TEMPERATURE = 0.8


def names(size: Size) -> int:
    """Names kept at once: the first reply and each candidate."""
    return size.workers + 1


def play(stage: Stage, size: Size) -> None:
    """Raises Broken."""
    first_name, *candidate_names = stage.names
    opening = Conversation().system(RULES).user(COUNT)
    first = stage.alone(Ask("reply", opening, keep=first_name))
    branched = opening.branch(beginning(first.reply))

    # The first candidate is greedy, so it can be compared; the others are drawn. Messages has no
    # seed: there the server's own luck decides.
    asks = []
    for n, name in enumerate(candidate_names[: size.workers]):
        drawn = replace(stage.options, temperature=TEMPERATURE, seed=n)
        options = drawn if n else stage.options
        asks.append(Ask(f"candidate {n + 1}", branched, first, name, options))
    candidates = stage.at_once(asks)
    stage.compare(asks[:1], candidates[:1])

    best = max(candidates, key=lambda one: len(set(one.reply.split())))
    stage.at_once(
        [
            Ask("from the best", best.then("Now backwards."), best),
            Ask("from the whole reply", first.then("Now backwards."), first),
        ]
    )


def beginning(reply: str) -> str:
    """About half of a reply, cut behind a word. Raises Broken for a reply too short to cut."""
    at = reply.find(" ", len(reply) // 2)
    at = at if at > 0 else reply.rfind(" ")
    part = reply[: max(at, 0)].rstrip()
    if not part:
        raise Broken(f"the reply {reply!r} is too short to branch from inside it")
    return part
