"""Engines for the engine's tests, one for a module: making one takes longer than most tests."""

from collections.abc import AsyncIterator

import pytest_asyncio

from halogen_reference.engine.llama.engine import LlamaEngine
from tests.engine.asking import make_engine, until_empty


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[LlamaEngine]:
    """Room for everything. After its tests not one cell is in use."""
    engine = make_engine(context=1024, pool=2048, slots=8)
    await engine.start()
    yield engine
    await until_empty(engine)
    await engine.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def narrow() -> AsyncIterator[LlamaEngine]:
    """Memory for one context, and little patience."""
    engine = make_engine(context=160, pool=160, slots=3, queue_timeout=0.2)
    await engine.start()
    yield engine
    await until_empty(engine)
    await engine.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tight() -> AsyncIterator[LlamaEngine]:
    """Memory for one context, and all the time in the world."""
    engine = make_engine(context=100, pool=100, slots=3)
    await engine.start()
    yield engine
    await until_empty(engine)
    await engine.stop()
