"""Plays the story on a server with sessions and, beside it, on one without."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import httpx

from demo.route import Answer, Ask, Route
from demo.story import LABEL_AT_CAP, Names, story
from demo.verdict import Handle, Row, judge, judge_release


@dataclass(slots=True)
class Played:
    """What came of it."""

    rows: list[Row] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        return [f"{row.part.label}: {text}" for row in self.rows for text in row.wrong]


def play(route: Route, url: str, twin_url: str, task: str, tell: Callable[[str], None]) -> Played:
    """Play every scene; ``tell`` is given each one's title before it begins."""
    played, heard = Played(), dict[str, Answer]()
    for scene in story(Names(), heard, task):
        tell(scene.title)
        before = handles(url)
        asks = [part.ask for part in scene.parts]
        answers = _at_once(route, url, asks)
        twins = _at_once(route, twin_url, [replace(ask, start=None, keep=None) for ask in asks])
        for part, answer, twin in zip(scene.parts, answers, twins, strict=True):
            heard[part.label] = answer
            row = judge(part, answer, twin)
            if part.label == LABEL_AT_CAP:
                assert part.ask.keep is not None
                wrong = judge_release(before, handles(url), part.ask.keep)
                row = replace(row, wrong=(*row.wrong, *wrong))
            played.rows.append(row)
    return played


def handles(url: str) -> list[Handle]:
    """The live names (LIST-2)."""
    listed = httpx.get(f"{url}/halogen/handles", trust_env=False).raise_for_status().json()
    return [Handle(entry["name"], entry["last_used_at"]) for entry in listed["data"]]


def _at_once(route: Route, url: str, asks: list[Ask]) -> list[Answer]:
    with ThreadPoolExecutor(len(asks)) as pool:
        return list(pool.map(lambda ask: route.ask(url, ask), asks))
