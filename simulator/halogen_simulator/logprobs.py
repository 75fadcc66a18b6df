"""Made-up log probabilities: the chosen token is always the likeliest."""

from halogen_reference.engine.protocol import Job
from halogen_reference.reply import Candidate, TokenLogprob
from halogen_simulator.vocabulary import Vocabulary

_CHOSEN, _STEP = -0.1, -1.0


def logprob(vocabulary: Vocabulary, job: Job, token: int) -> TokenLogprob | None:
    """None unless the job asks for them. The alternatives are the token's neighbours by id."""
    wanted = job.sampling.logprobs
    if wanted is None:
        return None
    tokens = [(token + step) % len(vocabulary) for step in range(max(1, wanted))]
    candidates = [
        Candidate(piece.decode("utf-8", "replace"), _CHOSEN + step * _STEP, piece)
        for step, piece in enumerate(map(vocabulary.piece, tokens))
    ]
    return TokenLogprob(candidates[0], tuple(candidates[:wanted]))
