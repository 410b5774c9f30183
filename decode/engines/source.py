"""constraint_of: the constraints that inference engines name in their requests."""

from __future__ import annotations

import json
import re
from typing import Literal, get_args

from ...automata.errors import ConstraintError
from ...constraints import Constraint, Limits, choice, grammar, json_schema, regex, structural_tags
from ...constraints.exact_json import ExactJson

# "::=" in front of all that quotes, comments or, in Lark's notation, defines.
_GBNF_RULE = re.compile(r"""^[^"'/#:\n]*::=""", re.MULTILINE)

Kind = Literal["json", "json_object", "regex", "grammar", "choice", "structural_tag"]


def constraint_of(kind: Kind, text: str, *, whitespace: str = "flexible", limits: Limits | None = None) -> Constraint:
    """The constraint of a request.

    Args:
        kind: ``"json"``: a JSON Schema as JSON text; ``"json_object"``: any JSON object, whatever the text;
            ``"regex"``; ``"grammar"``: GBNF where a line begins with ``name ::=``, else Lark's notation;
            ``"choice"``: a JSON array of texts; ``"structural_tag"``: a JSON object with ``structures``, each of
            ``begin``, ``schema`` and ``end``, and ``triggers`` (see :func:`tokamata.structural_tags`).
        text: the source.
        whitespace: of JSON, see :func:`tokamata.json_schema`.
        limits: what building it may use.

    Raises:
        ConstraintError: an unknown kind, a malformed source of whatever kind; UnsupportedError and LimitError as the
            constraints do.
    """
    try:
        return _made(kind, text, whitespace, limits)
    except ConstraintError:
        raise
    except (ValueError, TypeError) as error:  # what the functions say of their arguments: lone surrogates, no option
        raise ConstraintError(str(error)) from error


def _made(kind: Kind, text: str, whitespace: str, limits: Limits | None) -> Constraint:
    if kind == "json":
        return json_schema(text, whitespace=whitespace, limits=limits)
    if kind == "json_object":
        return json_schema({"type": "object"}, whitespace=whitespace, limits=limits)
    if kind == "regex":
        return regex(text, limits=limits)
    if kind == "grammar":
        return grammar(text, "gbnf" if _GBNF_RULE.search(text) else "lark", limits=limits)
    if kind == "choice":
        return choice(_options(text), limits=limits)
    if kind == "structural_tag":
        return _structural_tag(text, whitespace, limits)
    raise ConstraintError(f"constraint_of: expected one of {', '.join(get_args(Kind))}, got {kind!r}")


def _structural_tag(text: str, whitespace: str, limits: Limits | None) -> Constraint:
    found = ExactJson(text, "structural_tag")
    try:
        parts = [
            (tag["begin"], found.text("structures", i, "schema"), tag["end"])
            for i, tag in enumerate(found.value["structures"])
        ]
        triggers = found.value["triggers"]
        texts = [*triggers, *(part for begin, _, end in parts for part in (begin, end))]
        if not isinstance(triggers, list) or not all(isinstance(part, str) for part in texts):
            raise TypeError("begins, ends and an array of triggers are texts")
    except (ValueError, TypeError, KeyError) as error:
        raise ConstraintError(
            'structural_tag: expected a JSON object with "structures" (each of "begin", "schema" and "end") and '
            f'"triggers": {error!r}'
        ) from error
    tags = [(begin, json_schema(schema, whitespace=whitespace, limits=limits), end) for begin, schema, end in parts]
    return structural_tags(tags, triggers)


def _options(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConstraintError(f"choice: expected a JSON array of texts: {error}") from error
    if not isinstance(found, list) or not all(isinstance(option, str) for option in found):
        raise ConstraintError("choice: expected a JSON array of texts")
    return found
