"""draw: the next token, from scores and a mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Settings:
    """How tokens are drawn. ``temperature`` 0: the likeliest. ``bias``: added to the scores of tokens."""

    temperature: float = 1.0
    top_p: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    bias: Mapping[int, float] = field(default_factory=dict)


def draw(
    scores: NDArray[np.float32],
    mask: NDArray[np.int32] | None,
    settings: Settings,
    written: Counter[int],
    random: np.random.Generator,
) -> int:
    """Draw a token id from scores float32 [width], which are changed; mask int32 [ceil(V / 32)], None for any of V.

    Bias and penalties act before the mask, temperature and top_p within it: what is not allowed counts for nothing.
    A mask without any token is a ValueError.
    """
    for token, bias in settings.bias.items():
        if token < len(scores):
            scores[token] += bias
    if settings.presence_penalty or settings.frequency_penalty:
        for token, times in written.items():
            scores[token] -= settings.presence_penalty + settings.frequency_penalty * times
    if mask is not None:
        count = min(len(scores), 32 * len(mask))
        allowed = np.unpackbits(mask.view(np.uint8), count=count, bitorder="little").astype(bool)
        if not allowed.any():
            raise ValueError("draw: the mask allows no token")
        scores[:count][~allowed] = -np.inf
        scores[count:] = -np.inf
    if settings.temperature == 0:
        return int(scores.argmax())
    weights = np.exp((scores - scores.max()).astype(np.float64) / settings.temperature)
    if settings.top_p < 1:
        order = np.argsort(-weights, kind="stable")
        before = np.cumsum(weights[order]) - weights[order]
        weights[order[before >= settings.top_p * weights.sum()]] = 0  # the first always stays
    total = np.cumsum(weights)
    place = int(np.searchsorted(total, random.random() * total[-1], side="right"))
    return min(place, int(np.flatnonzero(weights)[-1]))
