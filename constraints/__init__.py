"""Constraints: regular expressions, literals and automata as sets of texts."""

from .constraint import Constraint, Limits, ReportEntry
from .from_fst import from_fst
from .grammar import grammar
from .grammar_pdt import grammar_pdt
from .json_schema import json_schema, json_value
from .literal import choice, literal
from .regex import regex
from .special_token import special_token

__all__ = [
    "Constraint",
    "Limits",
    "ReportEntry",
    "choice",
    "from_fst",
    "grammar",
    "grammar_pdt",
    "json_schema",
    "json_value",
    "literal",
    "regex",
    "special_token",
]
