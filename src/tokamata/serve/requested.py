"""requested_automaton: what a request asks of its answer, as a token automaton that later requests share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..automata.errors import ConstraintError, LimitError
from ..constraints import Constraint, Limits, choice, grammar, json_schema, regex, tools
from ..constraints.tool_definitions import read_choice, read_definitions
from ..decode import TokenAutomaton
from ..decode.automaton_cache import AutomatonCache
from .limits import ServerLimits
from .request import BadRequest, Chat, Completion, JsonSchemaFormat, ObjectFormat

_REGISTRY = re.compile(r"pass registry=\{.*?: its schema\}")  # an argument of Python, which clients do not have


def requested_automaton(
    request: Chat | Completion, automata: AutomatonCache, limits: ServerLimits, tool_convention: str | None
) -> TokenAutomaton | Callable[[], TokenAutomaton] | None:
    """The automaton of a request's constraint, or what builds it where it is not known; None: any text may be written.

    ``tool_convention``: how the model writes tool calls, None where it does not.

    Raises BadRequest where the request asks for two constraints, and for one that cannot be built or enforced, with the
    reason and the field; so does what builds it.
    """
    found = _source_of(request, Limits(seconds=limits.seconds), tool_convention)
    if found is None:
        return None
    name, value, make = found
    with _refusing(name):
        key = json.dumps([name, value])

    def build() -> TokenAutomaton:
        with _refusing(name):
            return automata.get(key, make)

    return automata.known(key) or build


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Raise BadRequest for a field that no constraint can be made of."""
    try:
        yield
    except (ConstraintError, LimitError, ImportError, TypeError, ValueError, RecursionError) as error:
        reason = _REGISTRY.sub('put it into "$defs", with its "$id"', str(error).removeprefix(f"{name}: "))
        raise BadRequest(f"{name}: {reason}", name) from error


def _source_of(
    request: Chat | Completion, limits: Limits, tool_convention: str | None
) -> tuple[str, object, Callable[[], Constraint]] | None:
    """The field that constrains an answer, its value, and how to build it."""
    found: list[tuple[str, object, Callable[[], Constraint]]] = []
    asked = request.response_format
    if isinstance(asked, ObjectFormat):
        found.append(("response_format", "json_object", lambda: json_schema({"type": "object"}, limits=limits)))
    elif isinstance(asked, JsonSchemaFormat):
        schema, lenient = request.schema_text, asked.json_schema.strict is False
        make = lambda: json_schema(schema, lenient=lenient, limits=limits)  # noqa: E731
        found.append(("response_format", [schema, lenient], make))
    if (pattern := request.regex) is not None:
        found.append(("regex", pattern, lambda: regex(pattern, limits=limits)))
    if (text := request.grammar) is not None:
        syntax = request.grammar_syntax
        found.append(("grammar", [text, syntax], lambda: grammar(text, syntax, limits=limits)))
    if (options := request.choice) is not None:
        found.append(("choice", options, lambda: choice(options, limits=limits)))
    if isinstance(request, Chat) and request.tools:
        found.append(_tools_of(request, tool_convention, limits))
    elif isinstance(request, Chat) and request.tool_choice not in (None, "none", "auto"):
        raise BadRequest("tool_choice: expected tools to choose from, got none", "tool_choice")
    if len(found) > 1:
        names = " and ".join(name for name, *_ in found)
        raise BadRequest(f"{names}: expected one constraint; intersect them in one schema or grammar", found[1][0])
    return found[0] if found else None


def _tools_of(request: Chat, convention: str | None, limits: Limits) -> tuple[str, object, Callable[[], Constraint]]:
    definitions, parallel = request.definitions, request.parallel_tool_calls
    asked = "auto" if request.tool_choice is None else request.tool_choice
    if convention is None:
        raise BadRequest(
            "tools: how this model writes tool calls is not known; start the server with --tool-convention", "tools"
        )
    with _refusing("tools"):
        known = read_definitions(definitions, strict=None)
    with _refusing("tool_choice"):
        read_choice(asked, known)
    make = lambda: tools(definitions, convention, tool_choice=asked, parallel=parallel, limits=limits)  # noqa: E731
    return "tools", [definitions, asked, parallel, convention], make
