"""Conversation histories, as a chain of pieces that forks share."""

from enum import Enum


class Role(Enum):
    """Who a piece is from."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Piece:
    """One message, and through its parent all before it. Two histories are the same where they
    hold the same pieces: equal texts are never made twice.

    ``tokens`` is its own length, ``total`` that of the history up to its end. ``text`` is set only
    where the history is really sent.
    """

    __slots__ = ("depth", "parent", "role", "text", "tokens", "total")

    def __init__(self, role: Role, tokens: int, parent: "Piece | None" = None) -> None:
        self.role, self.tokens, self.parent = role, tokens, parent
        self.total: int = tokens + (parent.total if parent else 0)
        self.depth: int = parent.depth + 1 if parent else 0
        self.text: str | None = None

    def then(self, role: Role, tokens: int) -> "Piece":
        """The history with one more message."""
        return Piece(role, tokens, self)

    def repeats(self, kept: "Piece") -> bool:
        """Whether this history begins with all of ``kept`` (FROM-2, FROM-4)."""
        piece: Piece | None = self
        while piece is not None and piece.depth > kept.depth:
            piece = piece.parent
        return piece is kept

    def messages(self) -> list["Piece"]:
        """All pieces, first to last."""
        chain: list[Piece] = []
        piece: Piece | None = self
        while piece is not None:
            chain.append(piece)
            piece = piece.parent
        return chain[::-1]
