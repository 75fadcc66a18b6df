"""Plays the story on a server with sessions and, beside it, on one without."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import httpx

from demo.chat import Chat
from demo.messages import Messages
from demo.responses import Responses
from demo.route import Answer, Ask, Route, Turn, Unanswered
from demo.story import LABEL_AT_CAP, Names, Part, story
from demo.verdict import Handle, Row, judge, judge_release

_ALL: tuple[Route, ...] = (Chat(), Messages(), Responses())
ROUTES = {route.name: route for route in _ALL}


@dataclass(slots=True)
class Played:
    """What came of it."""

    names: Names = field(default_factory=Names)
    rows: list[Row] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        return [f"{row.part.label}: {text}" for row in self.rows for text in row.wrong]


def play(url: str, twin_url: str, tell: Callable[[str], None]) -> Played:
    """Play every scene; ``tell`` is given each one's title before it begins."""
    played, heard = Played(), dict[str, Answer]()
    for scene in story(played.names, heard):
        tell(scene.title)
        before = handles(url)
        answers = _at_once(url, scene.parts, lambda ask: ask)
        twins = _at_once(twin_url, scene.parts, lambda ask: replace(ask, start=None, keep=None))
        for part, answer, twin in zip(scene.parts, answers, twins, strict=True):
            heard[part.label] = answer
            row = judge(part, answer, twin)
            if part.label == LABEL_AT_CAP:
                assert part.ask.keep is not None
                wrong = judge_release(before, handles(url), part.ask.keep)
                row = replace(row, wrong=(*row.wrong, *wrong))
            played.rows.append(row)
    return played


def warm(url: str) -> None:
    """One word on each route: what a client library loads at its first request is no part of any
    time that is shown."""
    for route in _ALL:
        route.ask(url, Ask((Turn("user", "Hello."),), 1))


def handles(url: str) -> list[Handle]:
    """The live names. Raises Unanswered where the list has another shape than LIST-2's."""
    listed = httpx.get(f"{url}/halogen/handles", trust_env=False).raise_for_status()
    try:
        return [Handle(entry["name"], entry.get("last_used_at")) for entry in listed.json()["data"]]
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Unanswered(f"GET /halogen/handles says: {listed.text[:200]}") from None


def _at_once(url: str, parts: tuple[Part, ...], sent: Callable[[Ask], Ask]) -> list[Answer]:
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(lambda part: ROUTES[part.route].ask(url, sent(part.ask)), parts))
