"""Finite automata over labels and bytes: the toolkit underneath every constraint."""

from .errors import (
    BudgetError,
    ConstraintError,
    FstError,
    LimitError,
    MissingFileError,
    TokenRejected,
    UnsupportedError,
    VocabularyError,
)

__all__ = [
    "BudgetError",
    "ConstraintError",
    "FstError",
    "LimitError",
    "MissingFileError",
    "TokenRejected",
    "UnsupportedError",
    "VocabularyError",
]
