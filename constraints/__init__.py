"""Constraints: regular expressions, literals and automata as sets of texts."""

from .constraint import Constraint, Limits, ReportEntry
from .free_text import free_text
from .from_fst import from_fst
from .grammar import grammar
from .grammar_pdt import grammar_pdt
from .json_schema import json_schema, json_value
from .literal import choice, literal
from .reasoning import Reasoned, ReasoningConstraint, reasoning
from .regex import regex
from .sequence import optional, sequence
from .special_token import special_token
from .structural_tags import Tag, structural_tags
from .tool_format import ToolFormat
from .tools import Reply, ToolCall, ToolsConstraint, tools

__all__ = [
    "Constraint",
    "Limits",
    "Reasoned",
    "ReasoningConstraint",
    "Reply",
    "ReportEntry",
    "Tag",
    "ToolCall",
    "ToolFormat",
    "ToolsConstraint",
    "choice",
    "free_text",
    "from_fst",
    "grammar",
    "grammar_pdt",
    "json_schema",
    "json_value",
    "literal",
    "optional",
    "reasoning",
    "regex",
    "sequence",
    "special_token",
    "structural_tags",
    "tools",
]
