"""Kept states laid anew: when it pays, and what must not change by it."""

import pytest

from halogen_reference.engine.llama import laying
from halogen_reference.engine.llama.sequence import LlamaState
from tests.engine.machine import Machine
from tests.engine.test_scheduler import kept, prompt


def holes(machine: Machine) -> list[LlamaState]:
    """Two states, one forked from the other, above more freed cells than they hold."""
    freed = kept(machine, prompt(0, 60))
    parent = kept(machine, prompt(100, 20))
    child = [*parent.tokens, *prompt(200, 5)]
    machine.submit(child, keep=True, start=parent, reuse=len(parent.tokens))
    machine.run()
    fork = machine.states[-1]
    machine.states.remove(freed)
    freed.release()
    return [parent, fork]


def test_freed_cells_below_a_state_are_given_back_when_they_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(laying, "WORTH_LAYING", 10)
    machine = Machine(cells=200)
    parent, fork = holes(machine)
    machine.step()
    assert machine.laid == 1
    assert machine.scheduler.cells.used == fork.resident
    assert list(parent.slot.cells) == list(fork.slot.cells[: parent.resident])
    machine.step()
    assert machine.laid == 1
    machine.check_empty()


@pytest.mark.parametrize("limit", ["WORTH_LAYING", "MOST_BYTES"])
def test_few_freed_cells_or_very_many_kept_ones_are_left(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(laying, "WORTH_LAYING", 10)
    monkeypatch.setattr(laying, limit, 60 if limit == "WORTH_LAYING" else 100)
    machine = Machine(cells=200)
    holes(machine)
    machine.step()
    assert machine.laid == 0


def test_nothing_is_moved_under_a_running_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laying, "WORTH_LAYING", 10)
    machine = Machine(cells=200)
    running = machine.submit(prompt(300), out=40)
    machine.step()
    holes_at = machine.laid
    holes(machine)
    assert running in machine.finished
    machine = Machine(cells=200)
    parent, _ = holes(machine)
    machine.submit([*parent.tokens, 7], out=5, start=parent, reuse=len(parent.tokens))
    machine.scheduler.place()
    machine.step()
    assert machine.laid == holes_at == 0


def test_a_state_that_could_not_be_laid_is_evaluated_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(laying, "WORTH_LAYING", 10)
    machine = Machine(cells=200)
    parent, _ = holes(machine)
    moves = machine.scheduler.lay_anew()
    machine.edit(machine.scheduler.edits())
    machine.memory.clear()
    machine.scheduler.laid([0] * len(moves))
    assert machine.scheduler.cells.used == 0
    again = machine.submit([*parent.tokens, 7], start=parent, reuse=len(parent.tokens))
    machine.run()
    assert again in machine.finished and again.evaluated == len(parent.tokens) + 1
    machine.check_empty()


def test_what_lies_on_top_is_given_back_without_moving_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(laying, "WORTH_LAYING", 10)
    machine = Machine(cells=200)
    below = kept(machine, prompt(0, 20))
    machine.submit(prompt(100, 60))
    machine.run()
    machine.step()
    assert machine.laid == 0 and machine.scheduler.cells.used == below.resident
    machine.check_empty()
