"""Who may run, in the order they came: places for replies, and cells for their tokens.

The rules are the reference's: kept states go before anyone waits; a request that is let in has
cells for its whole prompt; a reply that needs one more cell when nothing is left to go takes those
of the youngest, which pauses until there is room again.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from halogen_reference.engine.protocol import QueueTimeout
from halogen_simulator.pool import Cells, Run
from halogen_simulator.state import SimState


@dataclass(eq=False, slots=True)
class Place:
    """A running reply's place. ``run`` is None while its cells are lent to an older reply."""

    prompt: int
    run: Run | None
    end: int
    """Tokens it stands for, in cells or not."""


@dataclass(eq=False, slots=True)
class _Waiting:
    prompt: int
    start: SimState | None
    reuse: int
    place: "asyncio.Future[Place]"


class Places:
    """``slots`` replies at once, ``patience`` seconds of waiting at most."""

    def __init__(self, cells: Cells, slots: int, patience: float) -> None:
        self.cells = cells
        self.running: list[Place] = []
        self.waiting: deque[_Waiting] = deque()
        self.release_one: Callable[[], bool] = lambda: False
        self._slots, self._patience = slots, patience
        self._room = asyncio.Event()
        self._admitting = False

    async def enter(self, prompt: int, start: SimState | None, reuse: int) -> Place:
        """Wait for a place. Raises QueueTimeout."""
        future: asyncio.Future[Place] = asyncio.get_running_loop().create_future()
        one = _Waiting(prompt, start, reuse, future)
        self.waiting.append(one)
        self._admit()
        if future.done():
            return future.result()
        entered = False
        try:
            async with asyncio.timeout(self._patience):
                place = await future
            entered = True
            return place
        except TimeoutError:
            raise QueueTimeout from None
        finally:
            if one in self.waiting:
                self.waiting.remove(one)
            if not entered and not future.cancelled() and future.done():
                self.leave(future.result())

    async def grow(self, place: Place, tokens: int) -> None:
        """More cells for a running reply; waits while an older one has its cells."""
        while place.run is None or not self._make_room(tokens):
            holding = [one for one in self.running if one.run is not None]
            if place.run is None:
                self._room.clear()
                await self._room.wait()
                self._take_back(place, tokens)
            elif holding == [place]:
                # States that nobody can be told to release: over the pool's size for a while.
                break
            else:
                self._lend(holding[-1])
        self.cells.grow(place.run, tokens)
        place.end += tokens

    def leave(self, place: Place) -> None:
        """The reply is over and its cells are free."""
        self.hand_over(place)
        if place.run is not None:
            self.cells.drop(place.run)
            place.run = None
        self.settle()

    def hand_over(self, place: Place) -> None:
        """The reply is over; its cells go to whoever asked."""
        self.running.remove(place)

    def settle(self) -> None:
        """Somebody has left: let others in."""
        self._room.set()
        self._admit()

    def _admit(self) -> None:
        # Making room releases states, and that calls here again.
        if self._admitting:
            return
        self._admitting = True
        try:
            self._admit_in_order()
        finally:
            self._admitting = False

    def _admit_in_order(self) -> None:
        while self.waiting and len(self.running) < self._slots:
            one = self.waiting[0]
            own = one.prompt - one.reuse
            # When nothing runs, nothing will be freed by waiting: what holds the cells are states
            # of requests behind this one. It is let in, and the pool is over its size for a while.
            if not self._make_room(own + len(self.running)) and self.running:
                return
            self.waiting.popleft()
            if one.place.cancelled():
                continue
            run = self.cells.fork(one.start.run if one.start else None, one.reuse, own)
            place = Place(one.prompt, run, one.prompt)
            self.running.append(place)
            one.place.set_result(place)

    def _make_room(self, cells: int) -> bool:
        while self.cells.free < cells:
            if not self.release_one():
                return False
        return True

    def _lend(self, place: Place) -> None:
        if place.run is not None:
            self.cells.drop(place.run)
            place.run = None

    def _take_back(self, place: Place, tokens: int) -> None:
        """Cells again for a reply that lent them, older ones first."""
        older = self.running[: self.running.index(place)]
        if any(other.run is None for other in older):
            return
        if self._make_room(place.end + tokens) or not any(other.run for other in self.running):
            place.run = self.cells.fork(None, 0, place.end)
