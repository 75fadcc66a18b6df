"""Plays traffic against a server: its own replies take the place of the recorded ones."""

import copy
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import httpx

from halogen_conformance.drivers.reply import Reply
from halogen_simulator.traffic import items, kinds
from halogen_simulator.traffic.hindsight import Hindsight, Placed
from halogen_simulator.traffic.judge import Played
from halogen_simulator.traffic.reading import ROUTES, reader_for
from halogen_simulator.traffic.recording import (
    COUNT_PATH,
    HINTS,
    MESSAGES_PATH,
    RESPONSES_PATH,
    SESSION,
    Recorded,
)
from halogen_simulator.traffic.replies import Replies, said

_LIMITS = {MESSAGES_PATH: "max_tokens", RESPONSES_PATH: "max_output_tokens"}
_OF_THE_CONNECTION = frozenset(
    {"host", "content-length", "connection", "accept-encoding", "transfer-encoding"}
)
_SESSION_HEADERS = frozenset({SESSION, "session-id", "thread-id"})
_SIDE = (kinds.TITLE, kinds.PROBE, kinds.COUNT, kinds.HELLO, kinds.ASIDE, kinds.COMPACTION)


@dataclass(frozen=True, slots=True)
class Manner:
    """How traffic is played."""

    key: str | None = None
    """Sent instead of the recorded keys."""
    hints: bool = True
    """False leaves the hint headers out, as the client does by default."""
    max_tokens: int = 0
    """The most tokens of a reply; 0: as recorded."""
    at_once: int = 1
    """Requests that may be under way together. Each still waits for those it builds on."""


class Player:
    """One run of a recording. ``http`` has the server's address as its base URL."""

    def __init__(self, records: Sequence[Recorded], http: httpx.Client, manner: Manner) -> None:
        hindsight = Hindsight(records)
        self.placed = hindsight.placed()
        self._replies = Replies(hindsight)
        self._http, self._manner = http, manner
        # Played twice against one server, a recording is two sessions, not one gone back in time.
        self._sessions = {
            session: str(uuid.uuid4())
            for session in {record.thread.session for record in records} - {""}
        }

    def run(self) -> Iterator[Played]:
        """Play everything; the answers come in the order of the recording."""
        with ThreadPoolExecutor(self._manner.at_once) as pool:
            started: dict[int, Future[Played]] = {}
            turns: dict[Any, int] = {}
            for placed in self.placed:
                record = placed.record
                needed = self._replies.needed(record) | items.repeated(record)
                before = needed | {placed.base, turns.get(record.thread)}
                # Only earlier ones are waited for, so the earliest can always go on.
                waits = [started[n] for n in before if n in started]
                started[record.n] = pool.submit(self._play_after, placed, waits)
                if placed.kind not in _SIDE:
                    turns[record.thread] = record.n
            try:
                for future in started.values():
                    yield future.result()
            finally:
                for future in started.values():
                    future.cancel()

    def _play_after(self, placed: Placed, waits: Iterable[Future[Played]]) -> Played:
        for future in waits:
            future.result()
        return self.play(placed)

    def play(self, placed: Placed) -> Played:
        """Play one request. Those whose replies it repeats must have been played."""
        record = placed.record
        try:
            got = self._http.request(
                record.method, record.path, headers=self._headers(record), json=self._body(record)
            )
        except httpx.TransportError as error:
            return Played(placed, None, error=f"{type(error).__name__}: {error}")
        played = Played(placed, got.status_code, tuple(got.headers.get_list("x-halogen-from")))
        if record.method != "POST":
            return played
        if record.route == COUNT_PATH:
            return _counted(played, got)
        if record.route not in ROUTES:
            return played
        reader = reader_for(record.route, got.status_code, got.headers.get("content-type", ""))
        reader.feed(got.content)
        reply = reader.finish()
        try:
            if reply.error is None:
                self._replies.note(record.n, said(reply))
        except ValueError:
            return replace(played, error="a tool call was cut off: allow more --max-tokens")
        usage = reply.usage
        return replace(
            played,
            prompt=usage.prompt if usage else None,
            cached=usage.cached if usage else None,
            output=usage.output if usage else None,
            error=_error_line(got.status_code, reply),
        )

    def _headers(self, record: Recorded) -> dict[str, str]:
        sent = {
            name: value
            for name, value in record.headers.items()
            if name not in _OF_THE_CONNECTION and (self._manner.hints or name not in HINTS)
        }
        for name in _SESSION_HEADERS & sent.keys():
            sent[name] = self._sessions.get(sent[name], sent[name])
        if self._manner.key is not None:
            sent.pop("authorization", None)
            sent["x-api-key"] = self._manner.key
        return sent

    def _body(self, record: Recorded) -> Any:
        if not isinstance(record.body, dict):
            return record.body
        body = copy.deepcopy(record.body)
        if record.messages:
            body["messages"] = self._replies.put_into(record)
        if record.route == RESPONSES_PATH and isinstance(body.get("input"), list):
            body["input"] = items.put_into(record, self._replies.said)
        user_id = (body.get("metadata") or {}).get("user_id")
        if isinstance(user_id, str):
            old = record.thread.session
            body["metadata"]["user_id"] = user_id.replace(old, self._sessions.get(old, old))
        limit, most = _LIMITS.get(record.route), self._manner.max_tokens
        if limit is not None and most:
            body[limit] = min(body.get(limit, most), most)
        return body


def _counted(played: Played, got: httpx.Response) -> Played:
    if got.status_code != 200:
        return played
    try:
        return replace(played, prompt=int(got.json()["input_tokens"]), cached=None)
    except (ValueError, KeyError, TypeError):
        return replace(played, error="the count has no input_tokens")


def _error_line(status: int, reply: Reply) -> str:
    if reply.error is None:
        return "" if status == 200 else f"status {status}"
    return f"status {status}, {reply.error.type}: {reply.error.message}"
