"""Finite automata over labels and bytes: the toolkit underneath every constraint."""

from .arcsort import arcsort
from .arrays import ARC_DTYPE, FstArrays
from .closure import closure
from .concat import concat
from .connect import connect
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
from .invert import invert
from .project import project
from .properties import Properties, properties
from .randgen import randgen
from .reverse import reverse
from .symbols import SymbolTable
from .topsort import topsort
from .union import union

__all__ = [
    "ARC_DTYPE",
    "Arc",
    "BudgetError",
    "ConstraintError",
    "Fst",
    "FstArrays",
    "FstError",
    "LimitError",
    "MissingFileError",
    "Properties",
    "Semiring",
    "SymbolTable",
    "TokenRejected",
    "UnsupportedError",
    "VocabularyError",
    "arcsort",
    "closure",
    "concat",
    "connect",
    "invert",
    "project",
    "properties",
    "randgen",
    "reverse",
    "topsort",
    "union",
]
