"""Claude Code: sessions with subagents and side requests, as that program sends them.

No session header is sent: the server maps what the requests say of their thread
(``HALOGEN_FORK_MAP=claude-code``), and what a thread starts from shows in its outcome or its cost.
"""

import uuid
from dataclasses import dataclass, replace
from functools import partial

from halogen_conformance.drivers.answer import OUTCOMES
from halogen_conformance.drivers.conversation import Conversation, Tool
from halogen_conformance.drivers.driver import Header
from halogen_conformance.drivers.reply import Usage
from halogen_loadtest.judge.expected import Claim, Expectation, Kept, expect
from halogen_loadtest.scenarios.texts import filler
from halogen_loadtest.talk import Fork, Said, Talk

_TOOLS = tuple(
    Tool(name, f"{name} tool", {"type": "object", "properties": {"text": {"type": "string"}}})
    for name in ("Agent", "Bash", "Read")
)
_SIDE = Expectation(OUTCOMES, may_be_silent=True)
"""A first request, or one beside the conversation: what it starts from is the server's choice."""
_SEAM = 8
"""Tokens by which a reply is opened: they follow the text that a fork repeats."""
STEPS = 2
"""Requests of each subagent."""


def names_each(agents: int) -> int:
    """Threads of one session: the main conversation, its subagents, one fork of itself."""
    return agents + 2


@dataclass(slots=True)
class _Thread:
    """One thread with what it said last."""

    talk: Talk
    session: str
    system: str
    agent: str | None = None
    last: Kept | None = None

    @property
    def headers(self) -> tuple[Header, ...]:
        own: tuple[Header, ...] = (("x-claude-code-session-id", self.session),)
        return own if self.agent is None else (*own, ("x-claude-code-agent-id", self.agent))

    def opening(self) -> Conversation:
        """The system blocks: first the line that differs from request to request (MAP-7)."""
        mark = f"{self.talk.rng.randrange(16**5):05x}"
        kind = " cc_is_subagent=true;" if self.agent else ""
        line = f"x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch={mark};{kind}"
        return Conversation(tools=_TOOLS).system(line).system(self.system)

    def ask(self, step: str, text: str, fork: Fork | None = None) -> Said:
        """The thread's next request; from the second on it must go on from its own state."""
        talk, story = self.talk, self.opening()
        expected = _SIDE
        if self.last is not None:
            story = story.plus(*self.last.history.turns[2:])
            expected = _mapped(talk, self.last)
        story = story.user(text)
        said = talk.ask(step, story, extra=self.headers, expected=expected, fork=fork)
        if said.ok:
            whole = story.plus(said.answer.reply.turn())
            self.last = Kept(self.agent or "main", whole, None, said.answer.reply.usage)
        elif self.last is not None:
            self.last.sure = False
        return said


def _mapped(talk: Talk, kept: Kept) -> Expectation:
    wanted = expect(Claim.TRUE, talk.facts, kept, about="threads")
    return replace(wanted, may_be_silent=True)


def claude_code(talk: Talk) -> None:
    """One session: a title, ``depth`` turns of the main conversation, subagents in each."""
    choice = talk.settings
    share = max(4, choice.history_tokens // 2)
    session = str(uuid.UUID(int=talk.rng.getrandbits(128)))
    main = _Thread(talk, session, f"You help with code. {filler(talk.rng, share)}")
    agents = [
        _Thread(talk, session, f"Agent {number}. {filler(talk.rng, share)}", f"agent-{number}")
        for number in range(choice.forks)
    ]
    _title(talk, main)
    asked = filler(talk.rng, share)
    for turn in range(choice.depth):
        said = main.ask("main", asked)
        if not said.ok or talk.leaving():
            return
        group = f"{talk.prefix}{talk.rng.randrange(10**9)}"
        tasks = [partial(_work, talk, agent, Fork(group, str(agent.agent))) for agent in agents]
        if turn == 0:
            tasks.append(partial(_fork, talk, main, said, Fork(group, "fork")))
        talk.together(tasks)
        if turn == 0:
            _title(talk, main)
        asked = f"The agents report. {filler(talk.rng, 20)}"


def _title(talk: Talk, main: _Thread) -> None:
    """A side request on the session: it must not replace the conversation (MAP-4)."""
    story = Conversation().system("Write a title of three words.").user(filler(talk.rng, 20))
    talk.ask("title", story, extra=main.headers, expected=_SIDE)


def _work(talk: Talk, agent: _Thread, fork: Fork) -> None:
    for _ in range(STEPS):
        if not agent.ask("subagent", filler(talk.rng, 30), fork).ok:
            return


def _fork(talk: Talk, main: _Thread, said: Said, fork: Fork) -> None:
    """A fork subagent repeats its parent up to the message that led to it (MAP-3)."""
    assert main.last is not None
    usage = said.answer.reply.usage
    repeated = main.last.history.turns[2:-1]
    copy = _Thread(talk, main.session, main.system, "fork-1")
    story = copy.opening().plus(*repeated).assistant("I fork.").user("Look into the other half.")
    state = Kept("main", story, None, Usage(usage.prompt - _SEAM, 0, 0) if usage else None)
    talk.ask("fork", story, extra=copy.headers, expected=_mapped(talk, state), fork=fork)
