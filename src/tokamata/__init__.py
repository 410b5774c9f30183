"""Tokamata: automata that make a language model write exactly what a formal language allows."""

from ._version import __version__
from .automata.errors import (
    BudgetError,
    ConstraintError,
    LimitError,
    TokenRejected,
    UnsupportedError,
    VocabularyError,
)
from .tokenizer_fst import Vocabulary

__all__ = [
    "BudgetError",
    "ConstraintError",
    "LimitError",
    "TokenRejected",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "__version__",
]
