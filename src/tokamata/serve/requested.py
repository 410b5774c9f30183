"""requested_automaton: what a request asks of its answer, as a token automaton that later requests share."""

from __future__ import annotations

import json
from collections.abc import Callable

from ..automata.errors import ConstraintError, LimitError
from ..constraints import Constraint, Limits, choice, grammar, json_schema, regex
from ..decode import TokenAutomaton
from ..decode.automaton_cache import AutomatonCache
from .limits import ServerLimits
from .request import BadRequest, Chat, Completion, JsonSchemaFormat, ObjectFormat


def requested_automaton(
    request: Chat | Completion, automata: AutomatonCache, limits: ServerLimits
) -> TokenAutomaton | None:
    """The automaton of a request's constraint, None where any text may be written.

    Raises BadRequest where the request asks for two constraints, and for one that cannot be built or enforced, with the
    reason and the field.
    """
    found = _source_of(request, Limits(seconds=limits.seconds))
    if found is None:
        return None
    name, value, make = found
    try:
        return automata.get(json.dumps([name, value]), make)
    except (ConstraintError, LimitError, ImportError, TypeError, RecursionError) as error:
        raise BadRequest(f"{name}: {error}", name) from error


def _source_of(request: Chat | Completion, limits: Limits) -> tuple[str, object, Callable[[], Constraint]] | None:
    """The field that constrains an answer, its value, and how to build it."""
    found: list[tuple[str, object, Callable[[], Constraint]]] = []
    asked = request.response_format
    if isinstance(asked, ObjectFormat):
        found.append(("response_format", "json_object", lambda: json_schema({"type": "object"}, limits=limits)))
    elif isinstance(asked, JsonSchemaFormat):
        schema, lenient = asked.json_schema.schema_, asked.json_schema.strict is False
        make = lambda: json_schema(schema, lenient=lenient, limits=limits)  # noqa: E731
        found.append(("response_format", [schema, lenient], make))
    if (pattern := request.regex) is not None:
        found.append(("regex", pattern, lambda: regex(pattern, limits=limits)))
    if (text := request.grammar) is not None:
        syntax = request.grammar_syntax
        found.append(("grammar", [text, syntax], lambda: grammar(text, syntax, limits=limits)))
    if (options := request.choice) is not None:
        found.append(("choice", options, lambda: choice(options, limits=limits)))
    if len(found) > 1:
        names = " and ".join(name for name, *_ in found)
        raise BadRequest(f"{names}: expected one constraint; intersect them in one schema or grammar", found[1][0])
    return found[0] if found else None
