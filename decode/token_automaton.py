"""TokenAutomaton: a constraint over the tokens of one vocabulary."""

from __future__ import annotations

import json
import os
from dataclasses import astuple
from typing import TYPE_CHECKING, NoReturn, overload

from .._core import CaptureParts, DecodeState
from .._core import TokenAutomaton as NativeTokenAutomaton
from ..automata import Fst, compose, determinize, minimize, project, rmepsilon
from ..automata.checks import checked_count, checked_path, checked_range, checked_type, cut
from ..automata.errors import ConstraintError
from ..constraints import Constraint, DynamicConstraint, Limits, ReportEntry, from_fst
from ..constraints.constraint import native_limits
from ..constraints.token_class import TokenClass
from ..tokenizer_fst import Vocabulary
from ..tokenizer_fst.artifact import read_artifact, write_artifact
from .dynamic_automaton import DynamicAutomaton
from .token_acceptor import TokenAcceptor, token_acceptor
from .token_classes import class_from_json, class_to_json, expand_classes, tokens_for

if TYPE_CHECKING:
    import torch

    from .device import DeviceAutomaton
    from .masked_logits import Kernels

_LARGEST_BUDGET = 2**31 - 1  # more is no limit at all
_MAKE_VOCABULARY = "read one with tokamata.Vocabulary.from_file(path)"
_SECTION = "constraint"  # of a saved token automaton


class TokenAutomaton:
    """The composition of a vocabulary's detokenizing transducer D with a constraint's character automaton A, delayed.

    Every token sequence has one detokenization, so over a deterministic A the determinized composition has A's own
    states: a state allows a token exactly when the token's bytes lead to a state from which A can still accept
    (Koo et al. 2024, §2.3). Immutable and safe to share between threads; states and masks are made when decoding
    first reaches them and are kept for the next time, up to :class:`tokamata.Limits`: then a fresh automaton takes
    their place (:attr:`generations`) and decoding states go over to it, so one that serves for days needs bounded
    memory.
    """

    __slots__ = ("_language", "_native", "_tokens", "constraint", "vocabulary")

    def __init__(
        self,
        constraint: Constraint,
        vocabulary: Vocabulary,
        *,
        cache_bytes: int | None = None,
        limits: Limits | None = None,
    ) -> None:
        """See :func:`compile`."""
        if not (isinstance(constraint, Constraint) and isinstance(vocabulary, Vocabulary)):
            _check_operands("TokenAutomaton", constraint, vocabulary)
        if cache_bytes is not None:
            cache_bytes = _checked_room("TokenAutomaton", cache_bytes)
        self._tokens = tokens_for(constraint, vocabulary) if constraint.special_tokens else vocabulary
        language = constraint._native
        if limits is not None and (wider := native_limits(limits, "compile")) is not None:
            language = language.with_limits(wider)
        self._language = language
        self._native = NativeTokenAutomaton(language, self._tokens._native, cache_bytes)
        if constraint._parts:
            self._native.set_captures(constraint._parts, not constraint._has_raw_bytes)
        self.constraint = constraint
        self.vocabulary = vocabulary

    def start(self, max_tokens: int | None = None) -> DecodeState:
        """Return a state at the beginning. Cheap: any number of them may share this automaton.

        With ``max_tokens``, at most so many tokens lead from here to the end, the closing EOS included: masks allow
        exactly the tokens after which a member can still be completed in what is left, for recursive constraints as
        well. While the budget is far from tight, masks are those without one and cost the same; near the end a mask
        is built from the distances after its tokens, and is kept for the next time.

        Finding distances takes a bounded time: for a mask a quarter of the ``seconds`` of the limits where rules are
        called or something is remembered (JSON Schemas; keys and elements that must differ), all of it elsewhere; and
        where rules call rules, and in pieces of a text (``substring_of``), only so much at one mask (at one state of a
        grammar or a piece for a 40th of the ``states`` of the limits, in two steps for each elsewhere). What is not
        decided then, near the very end, masks may leave out, but never the tokens of a way to an end that is at hand;
        ``allows`` and ``advance``, asked for one token, take it or raise LimitError. So texts always end as members
        within the budget, and only some that would just fit are not written. LimitError is raised, here or at a mask,
        where not even one way is found in ``seconds`` (long counted repetitions under a budget close to the smallest).

        Raises:
            BudgetError: ``max_tokens`` is too small; the text names the smallest that works.
        """
        if max_tokens is None:
            return self._native.start()
        return self._native.start_with_budget(
            max(-1, min(checked_count("start", "max_tokens", max_tokens), _LARGEST_BUDGET))
        )

    def to_fst(self, *, max_states: int = 20_000_000) -> Fst:
        """The explicit token acceptor, by the paper's literal recipe (Koo et al. 2024, §2.3).

        Compose D with A, project to tokens, remove epsilons, determinize, minimize. Token t is label t + 1. The arcs
        out of a state are the mask of the decoding state that its paths lead to, and a state is final where EOS is
        allowed. Wildcards multiply with the vocabulary (§2.5.1): `.*` has as many arcs as there are tokens, and a
        counted wildcard that many for each count; `token_acceptor` has one for all of them. More than ``max_states``
        states of the character automaton or of the composition raise LimitError; decoding itself never needs this
        machine.
        """
        character = self.constraint.to_fst(max_states)
        tokens = project(compose(self._tokens.fst, character, max_states=max_states), "input")
        tokens = expand_classes(rmepsilon(tokens), self._tokens)
        return minimize(determinize(tokens, max_states=max_states))

    def token_acceptor(
        self, *, min_tokens: int = 8, max_states: int = 200_000, max_bytes: int = 1 << 30
    ) -> TokenAcceptor:
        """The explicit token acceptor with one label for each class of tokens that wildcards read.

        Exact, and for wildcards thousands of times smaller than `to_fst`: see `TokenAcceptor`. States are those of
        the delayed composition that tokens reach; the result is deterministic and trim, and minimal where the states
        of A are (apply ``minimize`` to the ``fst`` where they are not).

        Args:
            min_tokens: a set of fewer tokens is written as plain arcs.
            max_states: LimitError past that many states (a push-down constraint may have infinitely many).
            max_bytes: LimitError when arcs, token sets and what is looked up for each wildcard take more.

        Raises LimitError past one of these, past the ``search_seconds`` of the constraint's limits, and past its other
        limits; this automaton's own states stay as they are.

        Complexity: a sweep over the vocabulary for each kind of wildcard; then for each state its arcs, and the tokens
        that leave the wildcard. States that allow much without looping over characters take a sweep each.
        """
        return token_acceptor(self, min_tokens, max_states, max_bytes)

    def to(
        self,
        device: torch.device | str,
        *,
        max_states: int = 65_536,
        max_bytes: int = 1 << 30,
        kernels: Kernels = "auto",
    ) -> DeviceAutomaton:
        """All states, masks and transitions as PyTorch tensors on a device: see `DeviceAutomaton`.

        Args:
            device: "cuda", "cpu", or any other device of PyTorch.
            max_states: LimitError past that many states; a push-down constraint may have infinitely many.
            max_bytes: LimitError when transitions and masks take more.
            kernels: "triton", "torch", or "auto": Triton on CUDA where it is installed.

        Raises ValueError for a device that is not there, LimitError also past the ``search_seconds`` of the
        constraint's limits; `BatchState` and `HostMasks` serve constraints that are too large. This automaton's own
        states stay as they are.

        Complexity: O(states * (256 + a mask)), on the CPU.
        """
        try:
            from .device import DeviceAutomaton

            return DeviceAutomaton(self, device, max_states, max_bytes, kernels)
        except ImportError as error:
            raise ImportError(f"to: {error}; install PyTorch: pip install 'tokamata[transformers]'") from error

    def save(self, path: str | os.PathLike[str], *, max_states: int = 1_000_000) -> None:
        """Write the constraint's character automaton A as an OpenFst file (const, unweighted, byte b as label b).

        OpenFst opens it; :func:`load` combines it with a vocabulary again. A section behind the FST, which OpenFst does
        not read, keeps the constraint's source and report and a checksum, not its named parts. The file appears whole
        or not at all. Raises LimitError when A has more than ``max_states`` states, as it has where the constraint
        nests without bound or has to remember what it read.
        """
        path = checked_path("save", path)
        max_states = checked_range("save", "max_states", max_states, 1)
        about = {
            "source": self.constraint.source,
            "report": [astuple(entry) for entry in self.constraint.report],
            "special_tokens": sorted(n for n in self.constraint.special_tokens if not isinstance(n, TokenClass)),
            "token_classes": [class_to_json(n) for n in self.constraint.special_tokens if isinstance(n, TokenClass)],
            "named_parts": self.constraint._parts is not None,
        }
        fst = self.constraint.to_fst(max_states).to_bytes("const")
        write_artifact(path, fst, {_SECTION: json.dumps(about).encode()})

    @property
    def words(self) -> int:
        """int32 words of a mask: ceil(len(vocabulary) / 32)."""
        return self._native.words

    @property
    def num_states(self) -> int:
        """Acceptor states known now."""
        return self._native.num_states

    @property
    def generations(self) -> int:
        """How often the automaton began: 1, and 1 more for each time its limits were reached."""
        return self._native.generations

    @property
    def cached_masks(self) -> int:
        """Distinct masks kept now; they use at most ``cache_bytes``."""
        return self._native.num_masks

    def __copy__(self) -> TokenAutomaton:
        return self

    def __deepcopy__(self, memo: object) -> TokenAutomaton:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"pickle: expected what can be pickled, got {self!r}; save it with automaton.save(path)")

    def __repr__(self) -> str:
        return f"<tokamata.TokenAutomaton of {self.constraint!r} over {len(self.vocabulary)} tokens>"


@overload
def compile(  # type: ignore[overload-overlap]
    constraint: DynamicConstraint,
    vocabulary: Vocabulary,
    *,
    cache_bytes: int | None = None,
    limits: Limits | None = None,
) -> DynamicAutomaton: ...


@overload
def compile(
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    cache_bytes: int | None = None,
    limits: Limits | None = None,
) -> TokenAutomaton: ...


def compile(
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    cache_bytes: int | None = None,
    limits: Limits | None = None,
) -> TokenAutomaton | DynamicAutomaton:
    """Compose a constraint with a vocabulary, delayed: cheap, whatever their sizes.

    Args:
        constraint: what may be written.
        vocabulary: the model's tokens.
        cache_bytes: memory for finished masks, with callbacks of each part; past it masks are built anew each time.
            None: the limit of that name.
        limits: other limits than the constraint's own.

    Where the constraint has places that callbacks fill in (:func:`tokamata.dynamic`), the result is a
    :class:`tokamata.decode.DynamicAutomaton`, whose states have the same calls.

    Raises:
        ConstraintError: the constraint is empty, or the vocabulary cannot write any of its members.
        UnsupportedError: special tokens joined to bytes 0xff that are none (see :func:`tokamata.special_token`);
            places for callbacks over a vocabulary without a token for every byte.
        VocabularyError: the constraint speaks of a special token that the vocabulary does not have, or of EOS.
    """
    if not (isinstance(constraint, Constraint) and isinstance(vocabulary, Vocabulary)):
        _check_operands("compile", constraint, vocabulary)
    if cache_bytes is not None:
        cache_bytes = _checked_room("compile", cache_bytes)
    if isinstance(constraint, DynamicConstraint):
        return DynamicAutomaton(constraint, vocabulary, tokens_for(constraint, vocabulary), limits, cache_bytes)
    return TokenAutomaton(constraint, vocabulary, cache_bytes=cache_bytes, limits=limits)


def _check_operands(function: str, constraint: object, vocabulary: object) -> None:
    if not isinstance(constraint, Constraint):
        raise TypeError(
            f"{function}: expected a Constraint first, got {type(constraint).__name__}; build one, for example with "
            "tokamata.regex(pattern) or tokamata.json_schema(schema)"
        )
    checked_type(function, "a Vocabulary second", vocabulary, Vocabulary, _MAKE_VOCABULARY)


def _checked_room(function: str, cache_bytes: int) -> int:
    if (cache_bytes := checked_count(function, "cache_bytes", cache_bytes)) < 0:
        raise ValueError(f"{function}: expected cache_bytes >= 0, got {cut(cache_bytes)}; 0 keeps no mask")
    return min(cache_bytes, 2**63)


def load(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    cache_bytes: int | None = None,
    limits: Limits | None = None,
) -> TokenAutomaton:
    """Combine a file that :meth:`TokenAutomaton.save` wrote with a vocabulary (any vocabulary: A is over bytes).

    ``cache_bytes`` is that of :func:`tokamata.compile`; ``limits`` are those of reading and of the automaton.

    Raises MissingFileError when there is no such file, ConstraintError when it is damaged or something else: FST files
    of other origin are read by :func:`tokamata.from_fst`, vocabularies by ``tokamata.Vocabulary.load``.
    """
    checked_type("load", "a Vocabulary second", vocabulary, Vocabulary, _MAKE_VOCABULARY)
    if cache_bytes is not None:
        cache_bytes = _checked_room("load", cache_bytes)
    sections = read_artifact(checked_path("load", path))
    if _SECTION not in sections:
        raise ConstraintError(
            f"load: {os.fspath(path)!r} is no saved token automaton; it has the sections {sorted(sections)}. "
            "Use tokamata.Vocabulary.load for vocabularies"
        )
    language = from_fst(path, limits=limits)._native
    try:
        about = json.loads(sections[_SECTION])
        report = [ReportEntry(*map(_text, entry)) for entry in about["report"]]
        named = [*map(_text, about.get("special_tokens", ())), *map(class_from_json, about.get("token_classes", ()))]
        source, has_parts = _text(about["source"]), bool(about.get("named_parts"))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ConstraintError(
            f"load: {os.fspath(path)!r}: expected what save keeps of a constraint, got {type(error).__name__}: "
            f"{error}; save the automaton again"
        ) from error
    constraint = Constraint(language, source=source, report=report, special_tokens=named)
    if has_parts:
        constraint._parts = CaptureParts.unknown(
            language,
            f"captures: {os.fspath(path)!r} keeps no names of parts; ask the constraint that it was saved from, with "
            "captures(text)",
        )
    return compile(constraint, vocabulary, cache_bytes=cache_bytes)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r:.60}")
    return value
