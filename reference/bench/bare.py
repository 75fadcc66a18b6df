"""The bare loop the server's decoding is held against: llama.cpp and nothing else.

Run as a program of its own, ``python bare.py CASE.json``, in the environment the server has: one
prefill of what the prompts have in common, a fork for each, their own tokens, then one batch a step
with greedy sampling. Prints JSON.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import llama_cpp

from halogen_reference.engine.llama.context import Context, Copy, Remove, Row
from halogen_reference.engine.llama.engine import SEQUENCES
from halogen_reference.engine.llama.model import Model
from halogen_reference.engine.llama.scheduler import PREFILL_ALONE
from halogen_reference.settings import packaged_model
from halogen_reference.settings import read as read_settings

REPEATS = 2
"""Times the forks are decoded; the best counts. Whatever else runs on the machine only slows it
down, and the server has as many fan-outs to be judged by: the first after the keep, and again."""


@dataclass(frozen=True, slots=True)
class Bare:
    """``decode``: the best rate, in tokens a second; ``prefill`` in seconds for the common part."""

    decode: float
    prefill: float
    common: int
    """Tokens all the prompts begin with."""
    own: int
    """Tokens of the prompts beyond those, together."""
    token_bytes: int
    """Bytes one token takes in the KV cache."""


def measure(histories: Sequence[Sequence[dict[str, str]]], tokens: int, cells: int) -> Bare:
    """Decode ``tokens`` tokens for each of these chat histories, all in one batch."""
    chosen = read_settings()
    model = Model(chosen.checkpoint or packaged_model())
    count = len(histories)
    context = Context(
        model,
        cells=cells,
        sequences=SEQUENCES,
        batch=PREFILL_ALONE + count,
        threads=chosen.threads,
    )
    greedy = llama_cpp.llama_sampler_init_greedy()
    prompts = [_tokens(model, messages) for messages in histories]
    common = _common(prompts)
    started = time.perf_counter()
    for at in range(0, common, PREFILL_ALONE):
        context.decode([Row(0, at, prompts[0][at : min(at + PREFILL_ALONE, common)], False)])
    # llama.cpp may still be at work when decode returns; reading a result waits for it.
    llama_cpp.llama_synchronize(context.handle)
    prefill = time.perf_counter() - started
    rates = [_decode(context, greedy, prompts, common, tokens) for _ in range(REPEATS)]
    llama_cpp.llama_sampler_free(greedy)
    token_bytes = model.token_bytes
    context.close()
    model.close()
    own = sum(len(prompt) - common for prompt in prompts)
    return Bare(max(rates), prefill, common, own, token_bytes)


def _decode(
    context: Context, greedy: Any, prompts: Sequence[Sequence[int]], common: int, tokens: int
) -> float:
    """Fork sequence 0 for each prompt and decode them all; returns tokens a second."""
    forks = range(1, 1 + len(prompts))
    context.edit(edit for fork in forks for edit in (Remove(fork), Copy(0, fork, common)))
    newest = []
    for fork, prompt in zip(forks, prompts, strict=True):
        (output,) = context.decode([Row(fork, common, prompt[common:], True)])
        newest.append(llama_cpp.llama_sampler_sample(greedy, context.handle, output))
    started = time.perf_counter()
    for step in range(tokens - 1):
        rows = [
            Row(fork, len(prompt) + step, [token], True)
            for fork, prompt, token in zip(forks, prompts, newest, strict=True)
        ]
        outputs = context.decode(rows)
        newest = [llama_cpp.llama_sampler_sample(greedy, context.handle, at) for at in outputs]
    return (tokens - 1) * len(prompts) / (time.perf_counter() - started)


def _tokens(model: Model, messages: Sequence[dict[str, str]]) -> list[int]:
    """The prompt of a chat history; where pieces are cut is the server's business, not speed's."""
    turns = "".join(
        f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages
    )
    return list(model.encode(f"{turns}<|im_start|>assistant\n", True))


def _common(prompts: Sequence[Sequence[int]]) -> int:
    """Tokens all the prompts begin with; at least one stays each prompt's own."""
    columns = zip(*prompts, strict=False)
    same = next((at for at, column in enumerate(columns) if len(set(column)) > 1), None)
    shortest = min(map(len, prompts)) - 1
    return shortest if same is None else min(same, shortest)


def main(path: str) -> None:
    case = json.loads(Path(path).read_text("utf-8"))
    print(json.dumps(asdict(measure(case["histories"], case["tokens"], case["cells"]))))


if __name__ == "__main__":
    main(sys.argv[1])
