"""One request from its meaning to its reply: prompt, start, generation, keep."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from halogen_reference.call import Call, ChoiceMode, Opening
from halogen_reference.engine.protocol import (
    Done,
    Engine,
    EngineFailed,
    Job,
    QueueTimeout,
    Started,
    Text,
)
from halogen_reference.errors import RequestError, invalid, overloaded, prompt_too_long
from halogen_reference.metrics import Metrics
from halogen_reference.reply import Admitted, Finish, ReplyEnd, ReplyEvent, ReplyFailed, Usage
from halogen_reference.reply_parser import ReplyParser
from halogen_reference.sessions.sessions import Outcome, Sessions, Visit, Wish
from halogen_reference.tool_form import CALL_CLOSE


class Turn:
    """A request that is going to be answered. Must be closed."""

    def __init__(self, engine: Engine, metrics: Metrics, call: Call, visit: Visit) -> None:
        self._engine, self._metrics, self._call, self._visit = engine, metrics, call, visit
        self._room = engine.context - len(visit.start.tokens)

    @classmethod
    async def open(
        cls, engine: Engine, sessions: Sessions, metrics: Metrics, call: Call, wish: Wish
    ) -> "Turn":
        """Everything that can be refused is refused here, before anything is sent, with a status
        of its own: raises RequestError."""
        biased = [token for token, _ in call.sampling.logit_bias if token >= engine.vocabulary]
        if biased:
            raise invalid(f"there is no token {biased[0]}", "logit_bias")
        prompt = engine.template.render(call.conversation, call.opening)
        turn = cls(engine, metrics, call, await sessions.open(call, prompt, wish))
        if turn._room < 1:
            turn.close()
            raise prompt_too_long(len(turn._visit.start.tokens), engine.context - 1)
        return turn

    @property
    def outcome(self) -> Outcome | None:
        """What the response header says of the start; None: no header."""
        return self._visit.outcome

    @property
    def keep_accepted(self) -> bool | None:
        """Whether the name to keep under was accepted; None: none was given."""
        return self._visit.keep_accepted

    def close(self) -> None:
        """The request is over, however it ended. May be called again."""
        self._visit.close()

    def events(self) -> AsyncGenerator[tuple[int, ReplyEvent]]:
        """The replies' events, each with the index of its choice; Admitted comes first.

        Raises RequestError before the first event (the queue was too long), ReplyFailed after it.
        Closing the iterator cancels the replies.
        """
        return self._reply(0) if self._call.n == 1 else self._merged()

    async def _merged(self) -> AsyncGenerator[tuple[int, ReplyEvent]]:
        queue: asyncio.Queue[tuple[int, ReplyEvent | Exception | None]] = asyncio.Queue()

        async def pump(choice: int) -> None:
            try:
                async with aclosing(self._reply(choice)) as reply:
                    async for pair in reply:
                        queue.put_nowait(pair)
                queue.put_nowait((choice, None))
            except (RequestError, ReplyFailed) as error:
                queue.put_nowait((choice, error))

        tasks = [asyncio.create_task(pump(choice)) for choice in range(self._call.n)]
        started = False
        open_choices = len(tasks)
        try:
            while open_choices:
                choice, event = await queue.get()
                if event is None:
                    open_choices -= 1
                elif isinstance(event, RequestError) and started:
                    raise ReplyFailed(event.message)
                elif isinstance(event, Exception):
                    raise event
                else:
                    started = True
                    yield choice, event
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _job(self, choice: int) -> Job:
        call, start = self._call, self._visit.start
        sampling = call.sampling
        if choice and sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + choice)
        wanted = self._room if call.max_tokens is None else call.max_tokens
        return Job(
            tokens=start.tokens,
            start=start.state,
            reuse=start.reuse,
            sampling=sampling,
            max_tokens=min(wanted, self._room),
            stop=call.stop,
            # KEEP-7: of several choices the first is kept.
            keep=self._visit.keeps and choice == 0,
            streamed=call.stream,
            last="" if call.tool_choice.parallel or not call.conversation.tools else CALL_CLOSE,
            tools=call.conversation.tools,
            tool_choice=call.tool_choice,
        )

    async def _reply(self, choice: int) -> AsyncGenerator[tuple[int, ReplyEvent]]:
        job = self._job(choice)
        parser = self._parser()
        watch = self._metrics.watch(len(job.tokens))
        started = False
        if job.start is not None:
            # After the first step of this reply, and of the others to the same request.
            asyncio.get_running_loop().call_soon(self._visit.hand_over)
        try:
            async with aclosing(self._engine.submit(job)) as events:
                async for event in events:
                    match event:
                        case Started():
                            started = True
                            yield choice, Admitted(self._usage(len(job.tokens) - job.reuse))
                        case Text(text, logprobs):
                            watch.text()
                            for part in parser.feed(text, logprobs):
                                yield choice, part
                        case Done():
                            watch.done(event)
                            for part in parser.finish():
                                yield choice, part
                            yield choice, self._end(event, parser)
        except QueueTimeout:
            raise overloaded("the server is busy: no place became free in time") from None
        except EngineFailed as error:
            if not started:
                raise RequestError(500, str(error)) from None
            raise ReplyFailed(str(error)) from error

    def _parser(self) -> ReplyParser:
        call = self._call
        callable_tools = call.tool_choice.mode is not ChoiceMode.NONE
        names = frozenset(tool.name for tool in call.conversation.tools if callable_tools)
        return ReplyParser(names, opening=call.opening is not Opening.CONTINUE)

    def _end(self, done: Done, parser: ReplyParser) -> ReplyEnd:
        """The last event. What is kept is kept here, before anybody can see it (KEEP-1)."""
        reply = parser.assistant()
        if done.state is not None:
            self._visit.keep(reply, done.state)
        calls = done.finish is Finish.END_OF_TURN and reply.calls
        finish = Finish.TOOL_CALLS if calls else done.finish
        thought = len(self._engine.encode(parser.reasoning, False)) if parser.reasoning else 0
        usage = self._usage(done.evaluated, done.output, min(thought, done.output))
        return ReplyEnd(finish, usage, reply, done.stop_string)

    def _usage(self, evaluated: int, output: int = 0, reasoning: int = 0) -> Usage:
        counted = self._visit.start.counted
        return Usage(counted, max(0, counted - evaluated), output, reasoning)
