"""ConstraintCache: what a request asks of its answer, as token automata that later requests share."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable

from ..automata.errors import ConstraintError, LimitError, VocabularyError
from ..constraints import Constraint, Limits, choice, grammar, json_schema, regex
from ..decode import TokenAutomaton
from ..decode import compile as compile_automaton
from ..tokenizer_fst import Vocabulary
from .limits import ServerLimits
from .request import BadRequest, Chat, Completion, JsonSchemaFormat, ObjectFormat


class ConstraintCache:
    """Compiled constraints by their source, the least recently used dropped first. Safe to share between threads."""

    def __init__(self, vocabulary: Vocabulary, limits: ServerLimits) -> None:
        """Begin empty."""
        self._vocabulary = vocabulary
        self._limits = limits
        self._lock = threading.Lock()
        self._automata: OrderedDict[str, TokenAutomaton] = OrderedDict()

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._automata)

    def get(self, request: Chat | Completion) -> TokenAutomaton | None:
        """The automaton of a request's constraint, None where any text may be written.

        Raises BadRequest where the request asks for two constraints, and for one that cannot be built or enforced,
        with the reason and the field.
        """
        found = source_of(request)
        if found is None:
            return None
        name, key, make = found
        with self._lock:
            if key in self._automata:
                self._automata.move_to_end(key)
                return self._automata[key]
        try:
            automaton = compile_automaton(make(Limits(seconds=self._limits.seconds)), self._vocabulary)
            automaton.start().mask()  # past a limit: now, not in the middle of an answer
        except (ConstraintError, LimitError, VocabularyError, ImportError, TypeError, RecursionError) as error:
            raise BadRequest(f"{name}: {error}", name) from error
        with self._lock:
            self._automata[key] = automaton
            while len(self._automata) > self._limits.constraints:
                self._automata.popitem(last=False)
        return automaton


def source_of(request: Chat | Completion) -> tuple[str, str, Callable[[Limits], Constraint]] | None:
    """The field that constrains an answer, a key for its value, and how to build it within limits."""
    found: list[tuple[str, object, Callable[[Limits], Constraint]]] = []
    asked = request.response_format
    if isinstance(asked, ObjectFormat):
        found.append(("response_format", {"type": "object"}, lambda limits: json_schema(_OBJECT, limits=limits)))
    elif isinstance(asked, JsonSchemaFormat):
        schema, exact = asked.json_schema.schema_, asked.json_schema.strict is not False
        found.append(
            (
                "response_format",
                [schema, exact],
                lambda limits: json_schema(schema, lenient=not exact, limits=limits),
            )
        )
    if (pattern := request.regex) is not None:
        found.append(("regex", pattern, lambda limits: regex(pattern, limits=limits)))
    if (text := request.grammar) is not None:
        syntax = request.grammar_syntax
        found.append(("grammar", [text, syntax], lambda limits: grammar(text, syntax, limits=limits)))
    if (options := request.choice) is not None:
        found.append(("choice", options, lambda limits: choice(options, limits=limits)))
    if len(found) > 1:
        names = " and ".join(name for name, *_ in found)
        raise BadRequest(f"{names}: expected one constraint; intersect them in one schema or grammar", found[1][0])
    if not found:
        return None
    name, value, make = found[0]
    return name, json.dumps([name, value]), make


_OBJECT = {"type": "object"}
