"""Who holds which KV cell: the arithmetic of a unified cache, one token a cell.

llama.cpp shares the cells of a copied prefix between sequences but does not say how many are in
use, so the same bookkeeping is kept here: a reference count for every cell.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

CellIds = npt.NDArray[np.int32]


class Cells:
    """``total`` cells. Ids are ours and stand for no place in llama.cpp's memory."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._holders = np.zeros(total, dtype=np.int32)
        self._free = np.arange(total, dtype=np.int32)
        self.free = total
        """Cells nobody holds."""

    def take(self, count: int) -> CellIds:
        """Hold free cells. The caller checks :attr:`free` first."""
        assert 0 <= count <= self.free, "more cells taken than are free"
        self.free -= count
        ids = self._free[self.free : self.free + count].copy()
        self._holders[ids] = 1
        return ids

    def share(self, ids: CellIds) -> CellIds:
        """Hold cells that somebody holds already."""
        self._holders[ids] += 1
        return ids

    def drop(self, ids: CellIds) -> None:
        """Hold them no longer; cells without a holder are free again."""
        self._holders[ids] -= 1
        gone = ids[self._holders[ids] == 0]
        self._free[self.free : self.free + len(gone)] = gone
        self.free += len(gone)

    def held(self, without: Iterable[CellIds] = ()) -> tuple[int, int]:
        """Cells with a holder, and cells with more than one, some holders left out."""
        holders = self._holders.copy()
        for ids in without:
            holders[ids] -= 1
        return int(np.count_nonzero(holders > 0)), int(np.count_nonzero(holders > 1))

    @property
    def used(self) -> int:
        return self.total - self.free


def common_length(one: CellIds, two: CellIds) -> int:
    """Length of the common beginning of two prompts, or of two sequences' cells."""
    length = min(len(one), len(two))
    if not length or one[0] != two[0]:
        return 0
    differing = np.flatnonzero(one[:length] != two[:length])
    return int(differing[0]) if len(differing) else length
