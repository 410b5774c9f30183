"""Tokamata: automata that make a language model write exactly what a formal language allows."""

from ._version import __version__
from .automata.errors import (
    BudgetError,
    ConstraintError,
    FstError,
    LimitError,
    MissingFileError,
    TokenRejected,
    UnsupportedError,
    VocabularyError,
)
from .constraints import (
    Constraint,
    Limits,
    choice,
    from_fst,
    grammar,
    json_schema,
    json_value,
    literal,
    regex,
    special_token,
)
from .decode import BatchState, DecodeState, DeviceAutomaton, TokenAcceptor, TokenAutomaton, compile, load
from .tokenizer_fst import Vocabulary

__all__ = [
    "BatchState",
    "BudgetError",
    "Constraint",
    "ConstraintError",
    "DecodeState",
    "DeviceAutomaton",
    "FstError",
    "LimitError",
    "Limits",
    "MissingFileError",
    "TokenAcceptor",
    "TokenAutomaton",
    "TokenRejected",
    "UnsupportedError",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "choice",
    "compile",
    "from_fst",
    "grammar",
    "json_schema",
    "json_value",
    "literal",
    "load",
    "regex",
    "special_token",
]
