"""A machine as slow as a measured server: batches, planned as the reference plans them."""

import asyncio

from halogen_simulator.profile import Profile


class Machine:
    """See :class:`halogen_simulator.pace.Pace`.

    A batch carries a token for every reply being decoded, and prompts in the order they came up to
    the profile's chunk. The batch that reads the last of a prompt gives its reply's first token.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._seats: list[Sitting] = []
        self._working: asyncio.Task[None] | None = None

    @property
    def token_bytes(self) -> int:
        return self._profile.bytes_per_token

    def seat(self) -> "Sitting":
        return Sitting(self)

    def add(self, seat: "Sitting") -> None:
        """A prompt is to be read, and a reply decoded after it."""
        self._seats.append(seat)
        if self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._work())

    def remove(self, seat: "Sitting") -> None:
        if seat in self._seats:
            self._seats.remove(seat)

    async def _work(self) -> None:
        try:
            ends = asyncio.get_running_loop().time()
            while self._seats:
                ends = await self._batch(ends)
        finally:
            self._working = None

    async def _batch(self, begins: float) -> float:
        """One batch; returns when it ended."""
        loop = asyncio.get_running_loop()
        decoding = [seat for seat in self._seats if not seat.unread]
        chunks = self._chunks(beside=bool(decoding))
        read = self._profile.read_s(sum(count for _, count in chunks))
        # From the last batch's end and not from now: what waking up costs does not add up.
        ends = max(begins + self._profile.decode_s(len(decoding)) + read, loop.time())
        await asyncio.sleep(ends - loop.time())
        for seat, count in chunks:
            seat.take(count)
        for seat in decoding:
            seat.give()
        return ends

    def _chunks(self, *, beside: bool) -> list[tuple["Sitting", int]]:
        left = self._profile.chunk_beside if beside else self._profile.chunk_alone
        chunks = []
        for seat in self._seats:
            if seat.unread and left:
                chunks.append((seat, min(left, seat.unread)))
                left -= chunks[-1][1]
        return chunks


class Sitting:
    """See :class:`halogen_simulator.pace.Seat`."""

    def __init__(self, machine: Machine) -> None:
        self.unread = 0
        """Prompt tokens that are still to be read."""
        self._machine = machine
        self._due = 0
        """Tokens that are still to be decoded."""
        self._there = 0
        """Tokens that are decoded and not fetched yet: nobody waits for a slow client."""
        self._changed = asyncio.Event()

    async def read(self, tokens: int, most: int) -> None:
        self.unread, self._due = tokens, most
        self._machine.add(self)
        while self.unread:
            await self._wait()

    async def step(self) -> None:
        while not self._there:
            await self._wait()
        self._there -= 1

    def leave(self) -> None:
        self._machine.remove(self)

    def take(self, count: int) -> None:
        """So many tokens of the prompt are read."""
        self.unread -= count
        if not self.unread:
            self.give()

    def give(self) -> None:
        """A token of the reply is there. After the last it takes no part in batches any more."""
        self._due -= 1
        self._there += 1
        if self._due <= 0:
            self._machine.remove(self)
        self._changed.set()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()
