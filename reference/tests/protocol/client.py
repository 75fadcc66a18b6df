"""A client of one route: the tests say what they want, this hides how the route puts it."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tests.protocol.routes import History, Json, Reply, Route, Turn, sse
from tests.protocol.server import Server
from tests.protocol.ties import near_tie

SLACK = 4
"""Tokens that `used` may cost beyond the new text: the last kept token is evaluated again, and a
seam may be spelled in another way."""
BRANCH_SLACK = 12
"""And inside a reply, whose last few tokens may be evaluated again for an exact branch."""


@dataclass(frozen=True)
class Answer:
    """What came back: the status, the headers, and the reply where there is one."""

    status: int
    headers: httpx.Headers
    body: Json
    reply: Reply | None
    near: Callable[[str], bool] = field(default=lambda other: False, repr=False)
    """Whether another reply to the same request differs by a rounding error only."""

    @property
    def outcome(self) -> str | None:
        """What the response says of the start, None without the header (FROM-1)."""
        found: str | None = self.headers.get("x-halogen-from")
        return found

    @property
    def keep(self) -> str | None:
        found: str | None = self.headers.get("x-halogen-keep")
        return found

    @property
    def good(self) -> Reply:
        """The reply of an answer that must have one."""
        assert self.status == 200 and self.reply is not None, (self.status, self.body)
        return self.reply

    @property
    def text(self) -> str:
        return self.good.text

    @property
    def finish(self) -> str:
        return self.good.finish

    @property
    def cost(self) -> int:
        """Prompt tokens really evaluated."""
        return self.good.prompt - self.good.cached


@dataclass(frozen=True)
class Kept:
    """A conversation that was kept: its history with the reply, and what the reply was."""

    name: str
    history: tuple[Turn, ...]
    answer: Answer

    @property
    def tokens(self) -> int:
        return self.answer.good.prompt + self.answer.good.output

    def then(self, text: str) -> tuple[Turn, ...]:
        """The history, the reply, and one more message."""
        return (*self.history, ("assistant", self.answer.text), ("user", text))


class Talk:
    """Asks one server by one route, streaming or not."""

    def __init__(self, server: Server, route: Route, *, stream: bool) -> None:
        self.server, self.route, self.stream = server, route, stream

    def ask(
        self,
        history: History,
        *,
        keep: str | None = None,
        start: str | None = None,
        partial: str | None = None,
        **extra: Any,
    ) -> Answer:
        """One request; greedy and short unless ``extra`` fields say otherwise."""
        body = self.route.body(history, partial=partial, stream=self.stream, **extra)
        answer = self.post(body, keep=keep, start=start)

        def near(other: str) -> bool:
            return not self.server.exact and near_tie(
                self.server, history, answer.text, other, partial=partial, **extra
            )

        return replace(answer, near=near)

    def post(self, body: Any, *, keep: str | None = None, start: str | None = None) -> Answer:
        """One request with a body of the test's own."""
        wanted = {"x-halogen-keep": keep, "x-halogen-from": start}
        headers = {name: value for name, value in wanted.items() if value is not None}
        got = self.server.http.post(self.route.path, json=body, headers=headers)
        reply = None
        if got.status_code != 200:
            self.route.error(got.json())
            content = got.json()
        elif isinstance(body, dict) and body.get("stream"):
            content = {}
            reply = self.route.streamed(sse(got.text.splitlines()))
        else:
            content = got.json()
            reply = self.route.whole(content)
        # FROM-1: one outcome, and only for who asked for a start.
        outcomes = got.headers.get_list("x-halogen-from")
        assert len(outcomes) <= 1 and set(outcomes) <= {"used", "unmatched", "unknown"}, outcomes
        assert start is not None or not outcomes, "an outcome without X-Halogen-From"
        return Answer(got.status_code, got.headers, content, reply)

    def twin(self, history: History, *, partial: str | None = None, **extra: Any) -> Answer:
        """The same without headers, and never streaming: so a stream is compared with a whole
        answer. Asked once a server; only for requests whose answer is always the same."""
        body = self.route.body(history, partial=partial, stream=False, **extra)
        return self.server.once(
            f"{self.route.path} {json.dumps(body, sort_keys=True)}", lambda: self.post(body)
        )

    def kept(self, name: str, history: History, **how: Any) -> Kept:
        """Keep a conversation under a name, and check that the arrangement took."""
        answer = self.ask(history, keep=name, **how)
        assert answer.status == 200 and name in self.server.handles()
        return Kept(name, tuple(history), answer)

    def many(self, *requests: dict[str, Any]) -> list[Answer]:
        """Requests at once; each is :meth:`ask`'s arguments."""
        with ThreadPoolExecutor(len(requests)) as pool:
            return list(pool.map(lambda request: self.ask(**request), requests))


def check_same(answer: Answer, twin: Answer) -> None:
    """FROM-6: the headers never change the answer."""
    assert twin.outcome is None
    assert answer.good.prompt == twin.good.prompt
    if answer.text != twin.text and answer.near(twin.text):
        return
    assert answer.text == twin.text
    assert answer.finish == twin.finish
    assert answer.good.output == twin.good.output


def check_used(
    talk: Talk, kept: Kept, history: History, *, respelled: bool = False, **how: Any
) -> Answer:
    """A request that goes on from what was kept: used, cheap, and equal to its twin.

    ``respelled`` is for a kept reply whose own tokens may spell its text in another way than its
    twin reads it (FROM-9): the two have read different tokens and may go on differently.
    """
    answer = talk.ask(history, start=kept.name, **how)
    how.pop("keep", None)
    twin = talk.twin(history, **how)
    assert answer.outcome == "used"
    if respelled:
        assert answer.good.prompt == twin.good.prompt
    else:
        check_same(answer, twin)
    # FROM-7: what was kept is not read again.
    assert answer.cost <= twin.good.prompt - kept.tokens + SLACK
    assert answer.cost < twin.cost
    return answer


def check_branch(talk: Talk, kept: Kept, partial: str, **how: Any) -> Answer:
    """A request that goes on from inside the kept reply (BRANCH-1), the same way."""
    answer = talk.ask(kept.history, start=kept.name, partial=partial, **how)
    how.pop("keep", None)
    twin = talk.twin(kept.history, partial=partial, **how)
    assert answer.outcome == "used"
    check_same(answer, twin)
    assert answer.cost <= BRANCH_SLACK < kept.answer.good.prompt
    return answer


def check_not_used(talk: Talk, outcome: str, history: History, start: str, **how: Any) -> Answer:
    """A request whose start cannot be used: it says so and is answered as usual."""
    answer = talk.ask(history, start=start, **how)
    how.pop("keep", None)
    assert answer.outcome == outcome
    check_same(answer, talk.twin(history, **how))
    return answer
