"""Is an answer what the protocol says? Each check names the requirement it carries out."""

from dataclasses import dataclass

from demo.route import Answer
from demo.story import CAP, USED, Part

SLACK = 16
"""Tokens around a seam that may be evaluated again: a turn's end, a word cut in two."""


@dataclass(frozen=True, slots=True)
class Row:
    """One request played on both servers."""

    part: Part
    answer: Answer
    twin: Answer
    """The same body without the headers, on a server without the setting."""
    wrong: tuple[str, ...]
    """What differs from the protocol, in sentences."""


def judge(part: Part, answer: Answer, twin: Answer) -> Row:
    """Hold an answer against the protocol and against its twin."""
    wrong = []
    if answer.outcome != part.outcome:
        said = "nothing" if answer.outcome is None else repr(answer.outcome)
        wrong.append(f"X-Halogen-From must say {part.outcome or 'nothing'} and says {said} (FROM)")
    if part.outcome == answer.outcome == USED:
        most = answer.prompt - part.held(answer) + SLACK
        if answer.evaluated > most:
            wrong.append(
                f"{answer.evaluated} prompt tokens were evaluated, at most {most} are new (FROM-7)"
            )
    if twin.outcome is not None:
        wrong.append("the server without the setting sent X-Halogen-From (SWITCH-1)")
    if (answer.text, answer.call) != (twin.text, twin.call):
        wrong.append("the reply differs from the one without the headers (FROM-6)")
    if part.ask.must_call and answer.call is None:
        wrong.append("the reply had to be a tool call and is none: its result cannot be played")
    if answer.prompt != twin.prompt:
        wrong.append(
            f"the prompt has {answer.prompt} tokens, {twin.prompt} without the headers (FROM-6)"
        )
    return Row(part, answer, twin, tuple(wrong))


@dataclass(frozen=True, slots=True)
class Handle:
    """One line of ``GET /halogen/handles``."""

    name: str
    last_used_at: float | None
    """None from a server whose list does not tell (LIST-2)."""


def judge_release(before: list[Handle], after: list[Handle], kept: str) -> list[str]:
    """The keep that met the cap: one name made room, the one unused for longest (LIFE-3, 5)."""
    live = {handle.name for handle in after}
    if len(before) != CAP:
        return [f"{len(before)} names were listed before, {CAP} were live (LIST-1)"]
    if len(live) > CAP:
        return [f"{len(live)} names are live, {CAP} are allowed (LIFE-3)"]
    used = {handle.last_used_at: handle.name for handle in before if handle.last_used_at}
    if len(used) < CAP:
        return []
    oldest = used[min(used)]
    expected = {handle.name for handle in before} - {oldest} | {kept}
    if live != expected:
        return [f"live are {', '.join(sorted(live))}; {oldest} should have made room (LIFE-5)"]
    return []
