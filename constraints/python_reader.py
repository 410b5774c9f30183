"""Reads Python expressions of a form, without evaluating anything but the calls of known classes."""

from __future__ import annotations

import ast
from typing import Any

from ..automata.errors import ConstraintError, LimitError
from .python_forms import Form, Reading

_DEEP = "parse: brackets are nested deeper than Python's parser reads (about 200); ask for less nesting"


def read_expression(text: str, form: Form) -> Any:
    """The value of a member. Raises LimitError where brackets are nested too deeply for Python's parser."""
    try:
        node = ast.parse(text, mode="eval").body
        reading = Reading(text)
        if not reading.matches(form, node):
            raise ConstraintError(f"parse: expected a Python expression of the type, got {text!r:.80}")
        return form.build(node, reading)
    except (RecursionError, MemoryError) as error:
        raise LimitError(_DEEP) from error
    except SyntaxError as error:
        if "too many nested" in str(error):
            raise LimitError(_DEEP) from error
        raise ConstraintError(f"parse: expected a Python expression: {error}") from error
