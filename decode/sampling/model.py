"""LanguageModel: what samplers ask of a model."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_method


class LanguageModel(Protocol):
    """Any object with this one method; it stands for a model with its prompt.

    The rows are ``log_softmax`` over the whole vocabulary, before any mask. Top-k and top-p are part of a model only
    where the model itself applies them (see `TruncatedModel`).
    """

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.floating]:
        """Return float [rows, V]: for each prefix (tokens behind the prompt) the log-probabilities of the next token.

        Minus infinity stands for probability zero. Rows may sum to less than one; what is missing belongs to no
        text.
        """
        ...


def checked_model(function: str, what: str, model: object) -> None:
    """Raise TypeError for what is no model."""
    remedy = "wrap a model of the transformers package in tokamata.decode.sampling.TransformersModel"
    checked_method(function, what, model, "next_log_probs", remedy)
