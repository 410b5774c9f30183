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
from .fst import Arc, Fst, Semiring
from .symbols import SymbolTable

__all__ = [
    "Arc",
    "BudgetError",
    "ConstraintError",
    "Fst",
    "FstError",
    "LimitError",
    "MissingFileError",
    "Semiring",
    "SymbolTable",
    "TokenRejected",
    "UnsupportedError",
    "VocabularyError",
]
