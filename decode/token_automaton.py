"""TokenAutomaton: a constraint over the tokens of one vocabulary."""

from __future__ import annotations

from .._core import DecodeState
from .._core import TokenAutomaton as NativeTokenAutomaton
from ..automata.errors import UnsupportedError
from ..constraints import Constraint, Limits
from ..tokenizer_fst import Vocabulary

DEFAULT_CACHE_BYTES = 64 << 20


class TokenAutomaton:
    """The composition of a vocabulary's detokenizing transducer D with a constraint's character automaton A, delayed.

    Every token sequence has one detokenization, so over a deterministic A the determinized composition has A's own
    states: a state allows a token exactly when the token's bytes lead to a state from which A can still accept
    (Koo et al. 2024, §2.3). Immutable and safe to share between threads; states and masks are made when decoding
    first reaches them and are kept for the next time.
    """

    __slots__ = ("_native", "constraint", "vocabulary")

    def __init__(
        self,
        constraint: Constraint,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        limits: Limits | None = None,
    ) -> None:
        """See :func:`compile`."""
        language = constraint._native if limits is None else constraint._native.with_limits(limits._native())
        self._native = NativeTokenAutomaton(language, vocabulary._native, cache_bytes)
        self.constraint = constraint
        self.vocabulary = vocabulary

    def start(self, max_tokens: int | None = None) -> DecodeState:
        """Return a state at the beginning. Cheap: any number of them may share this automaton.

        Raises UnsupportedError for ``max_tokens``: budgets are not available yet.
        """
        if max_tokens is not None:
            raise UnsupportedError(
                f"start: max_tokens={max_tokens} is not supported yet; pass None and stop the model by its own limit"
            )
        return self._native.start()

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(len(vocabulary) / 32)."""
        return self._native.words

    @property
    def num_states(self) -> int:
        """Acceptor states known so far."""
        return self._native.num_states

    @property
    def cached_masks(self) -> int:
        """Distinct masks kept so far; they use at most the ``cache_bytes`` given to :func:`compile`."""
        return self._native.num_masks

    def __repr__(self) -> str:
        return f"<tokamata.TokenAutomaton of {self.constraint!r} over {len(self.vocabulary)} tokens>"


def compile(
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    limits: Limits | None = None,
) -> TokenAutomaton:
    """Compose a constraint with a vocabulary, delayed: cheap, whatever their sizes.

    Args:
        constraint: what may be written.
        vocabulary: the model's tokens.
        cache_bytes: memory for finished masks; past it masks are built anew each time.
        limits: other limits than the constraint's own.

    Raises:
        ConstraintError: the constraint is empty, or the vocabulary cannot write any of its members.
    """
    if not isinstance(constraint, Constraint):
        raise TypeError(f"compile: expected a Constraint first, got {type(constraint).__name__}; build one with tokamata.regex")
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"compile: expected a Vocabulary second, got {type(vocabulary).__name__}")
    if cache_bytes < 0:
        raise ValueError(f"compile: expected cache_bytes >= 0, got {cache_bytes}; 0 keeps no mask")
    return TokenAutomaton(constraint, vocabulary, cache_bytes=cache_bytes, limits=limits)
