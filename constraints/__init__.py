"""Constraints: regular expressions, literals and automata as sets of texts."""

from .capture import capture, hidden
from .constraint import Constraint, Limits, ReportEntry
from .dataclass_call import dataclass_call
from .dates import date, datetime, time
from .delimited_list import delimited_list
from .delimited_subsequence_of import delimited_subsequence_of
from .dynamic import DynamicConstraint, dynamic
from .free_text import free_text
from .from_fst import from_fst
from .function_call import function_call
from .grammar import grammar
from .grammar_pdt import grammar_pdt
from .image import image
from .json_schema import json_schema, json_value
from .literal import choice, literal
from .numerals import decimal, integer, number
from .one_token import one_token
from .quoted_text import quoted_text
from .reasoning import Reasoned, ReasoningConstraint, reasoning
from .regex import regex
from .sequence import optional, sequence
from .special_token import special_token
from .structural_tags import Tag, structural_tags
from .substring_of import substring_of
from .text_token import paragraph_token, text_token
from .text_until import text_until
from .token_group import token_group
from .tool_format import ParameterFormat, ToolFormat
from .tool_reader import Reply, ToolCall
from .tools import ToolsConstraint, tools
from .unquoted_text import unquoted_text
from .yaml_schema import yaml_schema

__all__ = [
    "Constraint",
    "DynamicConstraint",
    "Limits",
    "ParameterFormat",
    "Reasoned",
    "ReasoningConstraint",
    "Reply",
    "ReportEntry",
    "Tag",
    "ToolCall",
    "ToolFormat",
    "ToolsConstraint",
    "capture",
    "choice",
    "dataclass_call",
    "date",
    "datetime",
    "decimal",
    "delimited_list",
    "delimited_subsequence_of",
    "dynamic",
    "free_text",
    "from_fst",
    "function_call",
    "grammar",
    "grammar_pdt",
    "hidden",
    "image",
    "integer",
    "json_schema",
    "json_value",
    "literal",
    "number",
    "one_token",
    "optional",
    "paragraph_token",
    "quoted_text",
    "reasoning",
    "regex",
    "sequence",
    "special_token",
    "structural_tags",
    "substring_of",
    "text_token",
    "text_until",
    "time",
    "token_group",
    "tools",
    "unquoted_text",
    "yaml_schema",
]
