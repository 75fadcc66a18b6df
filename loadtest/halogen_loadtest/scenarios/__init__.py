"""The scenarios: what one user of each kind does, again and again."""

from collections.abc import Callable
from dataclasses import dataclass

from halogen_loadtest.options import Settings
from halogen_loadtest.scenarios import abort, churn, claude_code, conversation, fan_out
from halogen_loadtest.talk import Talk

Iterate = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """``begin`` gives what a user then calls for each iteration; ``names`` how many names one user
    has live at once, for the server's cap and so many users."""

    begin: Callable[[Talk, int], Iterate]
    names: Callable[[Settings, int, int], int]


def _each(iteration: Callable[[Talk], None]) -> Callable[[Talk, int], Iterate]:
    return lambda talk, names: lambda: iteration(talk)


SCENARIOS: dict[str, Scenario] = {
    "fan-out": Scenario(
        _each(fan_out.fan_out),
        lambda settings, cap, users: fan_out.NAMES,
    ),
    "conversation": Scenario(
        _each(conversation.conversation),
        lambda settings, cap, users: conversation.NAMES,
    ),
    "claude-code": Scenario(
        _each(claude_code.claude_code),
        lambda settings, cap, users: claude_code.names_each(settings.forks),
    ),
    "churn": Scenario(
        churn.Churn,
        lambda settings, cap, users: churn.names_each(settings.names, cap, users),
    ),
    "abort": Scenario(
        _each(abort.abort),
        lambda settings, cap, users: abort.NAMES,
    ),
}
