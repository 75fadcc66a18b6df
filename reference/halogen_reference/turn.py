"""One request from its meaning to its reply: prompt, start, generation, keep."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from halogen_reference.call import Call
from halogen_reference.engine.protocol import Done, Engine, EngineFailed, Job, QueueTimeout, Started
from halogen_reference.errors import RequestError, invalid, overloaded, prompt_too_long
from halogen_reference.metrics import Metrics
from halogen_reference.reply import Admitted, ReplyEnd, ReplyEvent, ReplyFailed, Usage
from halogen_reference.reply_parser import ReplyParser
from halogen_reference.sessions.sessions import Outcome, Sessions, Visit, Wish


class Turn:
    """A request that is going to be answered.

    Made in full before anything is sent, so that everything that can be refused is refused with a
    status of its own: raises RequestError. Must be closed.
    """

    def __init__(
        self, engine: Engine, sessions: Sessions, metrics: Metrics, call: Call, wish: Wish
    ) -> None:
        biased = [token for token, _ in call.sampling.logit_bias if token >= engine.vocabulary]
        if biased:
            raise invalid(f"there is no token {biased[0]}", "logit_bias")
        self._engine, self._metrics, self._call = engine, metrics, call
        prompt = engine.template.render(call.conversation, call.opening)
        self._visit: Visit = sessions.open(call, prompt, wish)
        self._room = engine.context - len(self._visit.start.tokens)
        if self._room < 1:
            self.close()
            raise prompt_too_long(len(self._visit.start.tokens), engine.context - 1)

    @property
    def outcome(self) -> Outcome | None:
        """What the response header says of the start; None: no header."""
        return self._visit.outcome

    @property
    def keeps(self) -> bool | None:
        """Whether the name to keep under was accepted; None: none was given."""
        return self._visit.keeps

    def close(self) -> None:
        self._visit.close()

    async def events(self) -> AsyncGenerator[tuple[int, ReplyEvent]]:
        """The replies' events, each with the index of its choice; Admitted comes first.

        Raises RequestError before the first event (the queue was too long), ReplyFailed after it.
        Closing the iterator cancels the replies.
        """
        try:
            if self._call.n == 1:
                async with aclosing(self._reply(0)) as reply:
                    async for event in reply:
                        yield 0, event
            else:
                async with aclosing(self._merged()) as replies:
                    async for pair in replies:
                        yield pair
        finally:
            self.close()

    async def _merged(self) -> AsyncGenerator[tuple[int, ReplyEvent]]:
        queue: asyncio.Queue[tuple[int, ReplyEvent | Exception | None]] = asyncio.Queue()

        async def pump(choice: int) -> None:
            try:
                async with aclosing(self._reply(choice)) as reply:
                    async for event in reply:
                        queue.put_nowait((choice, event))
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
            keep=bool(self._visit.keeps) and choice == 0,
            tools=call.conversation.tools,
            tool_choice=call.tool_choice,
        )

    async def _reply(self, choice: int) -> AsyncGenerator[ReplyEvent]:
        counted = self._visit.start.counted
        parser = ReplyParser()
        job = self._job(choice)
        started = False
        watch = self._metrics.watch(len(job.tokens))
        try:
            async with aclosing(self._engine.submit(job)) as events:
                async for event in events:
                    if isinstance(event, Started):
                        started = True
                        expected = len(job.tokens) - job.reuse
                        yield Admitted(Usage(counted, max(0, counted - expected), 0))
                    elif isinstance(event, Done):
                        watch.done(event)
                        reply = parser.assistant()
                        if event.state is not None:
                            self._visit.keep(reply, event.state)
                        cached = max(0, counted - event.evaluated)
                        usage = Usage(counted, cached, event.output)
                        yield ReplyEnd(event.finish, usage, reply, event.stop_string)
                    else:
                        watch.text()
                        for part in parser.feed(event.text, event.logprobs):
                            yield part
        except QueueTimeout:
            raise overloaded("the server is busy: no place became free in time") from None
        except EngineFailed as error:
            if not started:
                raise RequestError(500, str(error)) from None
            raise ReplyFailed(str(error)) from error
