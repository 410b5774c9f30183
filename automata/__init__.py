"""Finite automata over labels and bytes: the toolkit underneath every constraint."""

from .arcsort import arcsort
from .arrays import ARC_DTYPE, FstArrays
from .closure import closure
from .compose import ComposeFst, compose
from .concat import concat
from .connect import connect
from .delayed import DelayedFst
from .determinize import DeterminizeFst, determinize
from .difference import DifferenceFst, difference
from .equivalent import equivalent
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
from .intersect import IntersectFst, intersect
from .invert import invert
from .isomorphic import isomorphic
from .minimize import minimize
from .pdt import Pdt
from .project import project
from .properties import Properties, properties
from .prune import prune
from .push import push
from .randgen import randgen
from .replace import ReplaceFst, replace
from .reverse import reverse
from .rmepsilon import rmepsilon
from .shortestdistance import shortestdistance
from .shortestpath import shortestpath
from .symbols import SymbolTable
from .topsort import topsort
from .union import union

__all__ = [
    "ARC_DTYPE",
    "Arc",
    "BudgetError",
    "ComposeFst",
    "ConstraintError",
    "DelayedFst",
    "DeterminizeFst",
    "DifferenceFst",
    "Fst",
    "FstArrays",
    "FstError",
    "IntersectFst",
    "LimitError",
    "MissingFileError",
    "Pdt",
    "Properties",
    "ReplaceFst",
    "Semiring",
    "SymbolTable",
    "TokenRejected",
    "UnsupportedError",
    "VocabularyError",
    "arcsort",
    "closure",
    "compose",
    "concat",
    "connect",
    "determinize",
    "difference",
    "equivalent",
    "intersect",
    "invert",
    "isomorphic",
    "minimize",
    "project",
    "properties",
    "prune",
    "push",
    "randgen",
    "replace",
    "reverse",
    "rmepsilon",
    "shortestdistance",
    "shortestpath",
    "topsort",
    "union",
]
