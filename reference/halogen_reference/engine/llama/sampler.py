"""Choosing the next token: llama.cpp's own sampler chain, one for each reply."""

import secrets

import llama_cpp
import numpy as np

from halogen_reference.call import Sampling
from halogen_reference.engine.llama.context import Context
from halogen_reference.engine.llama.model import Model
from halogen_reference.reply import Candidate, TokenLogprob

_PENALTY_WINDOW = 8192
"""Generated tokens the penalties look back on."""


class Sampler:
    """A chain in the usual order: bias, penalties, grammar, top-k, top-p, min-p, temperature.

    Penalties count generated tokens only, as the public APIs say. Must be closed; a closed one
    must not be used.
    """

    def __init__(self, model: Model, sampling: Sampling, grammar: str | None = None) -> None:
        self._model = model
        self._sampling = sampling
        self._chain = llama_cpp.llama_sampler_chain_init(
            llama_cpp.llama_sampler_chain_default_params()
        )
        links = self._links(sampling, grammar)
        for link in links:
            llama_cpp.llama_sampler_chain_add(self._chain, link)
        # The chain copies the whole vocabulary to find its maximum: ten times the work.
        self._only_greedy = sampling.temperature <= 0 and len(links) == 1

    def sample(self, context: Context, output: int) -> tuple[int, TokenLogprob | None]:
        """Choose a token from the logits at ``output`` and remember it for the penalties."""
        wanted = self._sampling.logprobs
        if self._only_greedy and wanted is None:
            return int(context.view(output).argmax()), None
        # Before sampling: the chain works on a copy, but the model's own view is what is reported.
        logits = context.logits(output) if wanted is not None else None
        token = int(llama_cpp.llama_sampler_sample(self._chain, context.handle, output))
        if logits is None or wanted is None:
            return token, None
        shifted = logits - logits.max()
        logprobs = shifted - np.log(np.exp(shifted).sum())
        best = np.argpartition(-logprobs, wanted)[:wanted] if wanted else np.array([], dtype=int)
        best = best[np.argsort(-logprobs[best])]
        top = tuple(self._candidate(int(i), float(logprobs[i])) for i in best)
        return token, TokenLogprob(self._candidate(token, float(logprobs[token])), top)

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._chain)

    def _candidate(self, token: int, logprob: float) -> Candidate:
        data = self._model.piece(token)
        return Candidate(data.decode("utf-8", "replace"), logprob, data)

    def _links(self, sampling: Sampling, grammar: str | None) -> list[object]:
        lib, size = llama_cpp, self._model.vocab_size
        links: list[object] = []
        if sampling.logit_bias:
            biases = (lib.llama_logit_bias * len(sampling.logit_bias))(
                *(lib.llama_logit_bias(token, bias) for token, bias in sampling.logit_bias)
            )
            links.append(lib.llama_sampler_init_logit_bias(size, len(biases), biases))
        penalties = (
            sampling.repetition_penalty,
            sampling.frequency_penalty,
            sampling.presence_penalty,
        )
        if penalties != (1.0, 0.0, 0.0):
            links.append(lib.llama_sampler_init_penalties(size, _PENALTY_WINDOW, *penalties))
        if grammar is not None:
            link = lib.llama_sampler_init_grammar(self._model.vocab, grammar.encode(), b"root")
            if not link:
                raise ValueError("llama.cpp does not accept the grammar made from a tool's schema")
            links.append(link)
        if sampling.temperature <= 0:
            return [*links, lib.llama_sampler_init_greedy()]
        if sampling.top_k > 0:
            links.append(lib.llama_sampler_init_top_k(sampling.top_k))
        if sampling.top_p < 1:
            links.append(lib.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0:
            links.append(lib.llama_sampler_init_min_p(sampling.min_p, 1))
        seed = secrets.randbits(32) if sampling.seed is None else sampling.seed & 0xFFFFFFFF
        links.append(lib.llama_sampler_init_temp(sampling.temperature))
        links.append(lib.llama_sampler_init_dist(seed))
        return links
