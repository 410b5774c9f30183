"""AutomatonCache: compiled constraints of one vocabulary, by what they were made from."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from ..automata.checks import checked_callable, checked_range, checked_type
from ..constraints import Constraint
from ..tokenizer_fst import Vocabulary
from .token_automaton import TokenAutomaton
from .token_automaton import compile as compile_automaton


class AutomatonCache:
    """Token automata by a key for their constraint; the least recently used are dropped. Safe between threads.

    Two threads that ask for the same new key may both build it; one of the results is kept and both are right.
    Constraints that cannot be built are not kept: their error is raised anew each time.
    """

    def __init__(self, vocabulary: Vocabulary, size: int = 128) -> None:
        """Begin empty; ``size`` automata at most are kept. Raises TypeError or ValueError for others."""
        remedy = "read one with tokamata.Vocabulary.from_file(path)"
        self.vocabulary = checked_type("AutomatonCache", "a Vocabulary first", vocabulary, Vocabulary, remedy)
        self.size = checked_range("AutomatonCache", "size", size, 1)
        self._lock = threading.Lock()
        self._automata: OrderedDict[Hashable, TokenAutomaton] = OrderedDict()

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._automata)

    def known(self, key: Hashable) -> TokenAutomaton | None:
        """The automaton of a key if it is kept; it counts as used."""
        with self._lock:
            if key in self._automata:
                self._automata.move_to_end(key)
            return self._automata.get(key)

    def get(self, key: Hashable, make: Callable[[], Constraint]) -> TokenAutomaton:
        """The automaton of a key; a new one is compiled from ``make()``, first mask included, outside the lock.

        Raises what ``make``, :func:`tokamata.compile` and the first mask raise, TypeError for a key without a hash.
        """
        checked_type("AutomatonCache.get", "a key with a hash", key, Hashable, "pass a text")  # type: ignore[type-abstract]
        checked_callable("AutomatonCache.get", "make as a function", make, "pass what builds the constraint")
        known = self.known(key)
        if known is not None:
            return known
        automaton = compile_automaton(make(), self.vocabulary)
        automaton.start().mask()  # past a limit: now, not in the middle of a text
        with self._lock:
            automaton = self._automata.setdefault(key, automaton)
            self._automata.move_to_end(key)
            while len(self._automata) > self.size:
                self._automata.popitem(last=False)
        return automaton
