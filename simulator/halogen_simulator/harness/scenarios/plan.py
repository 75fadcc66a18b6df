"""A plan, workers that carry out its parts at once, and a join of what they say."""

from halogen_conformance.drivers.conversation import Conversation
from halogen_simulator.harness.scenarios.brief import RULES, TASK
from halogen_simulator.harness.scenarios.size import Size
from halogen_simulator.harness.scenarios.stage import Stage
from halogen_simulator.harness.scenarios.step import Ask, Point

ABOUT = "a plan, workers that start from it at once, and a join"


def names(size: Size) -> int:
    """Names kept at once: the plan, the join and each worker."""
    return size.workers + 2


def play(stage: Stage, size: Size) -> None:
    """Raises Broken."""
    plan_name, join_name, *worker_names = stage.names
    opening = Conversation().system(RULES).user(TASK)
    plan = stage.alone(Ask("plan", opening, keep=plan_name))

    asks = [
        Ask(f"worker {n}", plan.then(f"You are worker {n}. Do step {n}."), plan, name)
        for n, name in enumerate(worker_names[: size.workers], 1)
    ]
    workers = stage.at_once(asks)
    stage.compare(asks, workers)

    # Each moves its own state forward, as a worker with tools does (JOIN-2).
    more = [Ask(f"{one.label}, once more", one.then("Go on."), one, one.name) for one in workers]
    reports = stage.at_once(more)

    told = plan.then(_told(reports))
    joining = Ask("join", told, plan, join_name)
    joined = stage.alone(joining)
    stage.compare([joining], [joined])
    stage.at_once(
        [
            Ask("after the join", joined.then("What is left to do?"), joined),
            Ask("the plan as it was", plan.then("Is the plan complete?"), plan),
            # Its name stands for where it is now, no longer for where it was.
            Ask("worker 1, at last", reports[0].then("Are you done?"), reports[0]),
        ]
    )


def _told(reports: list[Point]) -> str:
    said = "\n".join(f"Worker {n} says: {one.reply}" for n, one in enumerate(reports, 1))
    return f"{said}\nPut the parts together."
