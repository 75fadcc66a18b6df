"""A ladder of reviewers: each reads the draft as it stands and says what is wrong, and the author
revises it, which makes the next rung. Every rung can still be gone on from at the end."""

from halogen_conformance.drivers.conversation import Conversation
from halogen_simulator.harness.scenarios.brief import RULES, TASK
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Stage
from halogen_simulator.harness.scenarios.step import Ask

ABOUT = "a draft, reviewers one after the other, a revision after each"


def names(size: Size) -> int:
    """Names kept at once: the draft and the revision after each reviewer."""
    return size.workers + 1


def play(stage: Stage, size: Size) -> None:
    """Raises Broken."""
    opening = Conversation().system(RULES).user(TASK)
    draft = stage.alone(Ask("draft", opening, keep=stage.names[0]))
    rungs = [draft]
    for n, name in enumerate(stage.names[1 : size.workers + 1], 1):
        last = rungs[-1]
        # The review only reads the draft's state: nothing of it is kept.
        asked = last.then(f"You are reviewer {n}. Name one thing that is wrong.")
        review = stage.alone(Ask(f"review {n}", asked, last))
        told = last.then(f"Reviewer {n} says: {review.reply}\nRevise the plan.")
        revising = Ask(f"revision {n}", told, last, name)
        rungs.append(stage.alone(revising))
        stage.compare([revising], rungs[-1:])
    stage.at_once(
        [Ask(f"{rung.label}, again", rung.then("Is this the last word?"), rung) for rung in rungs]
    )
