"""What a type checker makes of the public names; checked by `make types`, never run."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from tokamata.automata import Fst, compose, determinize, minimize
from tokamata.decode.transformers import ConstrainedLogitsProcessor
from typing_extensions import assert_type

import tokamata

vocabulary = tokamata.Vocabulary([None, b"a"], eos_token_ids=[0])
assert_type(vocabulary, tokamata.Vocabulary)
assert_type(tokamata.Vocabulary.load("x.fst"), tokamata.Vocabulary)
assert_type(tokamata.Vocabulary.from_file("tokenizer.json", size=100), tokamata.Vocabulary)
assert_type(vocabulary.token_bytes(1), "bytes | None")
assert_type(vocabulary.eos_token_ids, list[int])
assert_type(vocabulary.fst, Fst)
assert_type(len(vocabulary), int)

a = tokamata.regex("a*")
b = tokamata.choice(["x", b"y"])
assert_type(tokamata.dataclass_call(int).parse("1"), int)
assert_type(tokamata.function_call(len).parse("len([])"), tuple[tuple[Any, ...], dict[str, Any]])
assert_type(tokamata.integer(1, 9).parse("1"), int)
assert_type(tokamata.decimal(1, 9).parse("1.00"), Decimal)
assert_type(tokamata.date().parse("2024-02-29"), datetime.date)
assert_type(a | b, tokamata.Constraint)
assert_type(a & b, tokamata.Constraint)
assert_type(a - b, tokamata.Constraint)
assert_type(~a, tokamata.Constraint)
assert_type(a + "x", tokamata.Constraint)
assert_type(tokamata.special_token("<x>") + a, tokamata.Constraint)
assert_type(a.repeat(1, 3), tokamata.Constraint)
assert_type(tokamata.sequence("x", a, tokamata.optional(b"y")), tokamata.Constraint)
assert_type(tokamata.structural_tags([("<x>", a, ""), tokamata.Tag("<y>", b)], ["<"]), tokamata.Constraint)
assert_type(tokamata.dynamic(lambda text: a) + "x", tokamata.DynamicConstraint)
assert_type(tokamata.compile("x" + tokamata.dynamic(lambda text: "y"), vocabulary), tokamata.decode.DynamicAutomaton)
assert_type(tokamata.reasoning(a).parse("x").reasoning, "str | None")
assert_type(tokamata.tools([{"name": "f"}]).parse("x").calls, tuple[tokamata.ToolCall, ...])
assert_type(a.accepts(b"a"), bool)
assert_type(a.counterexample(b), "bytes | None")
assert_type(a.examples(3, seed=1), list[bytes])
assert_type(a.count(2), int)
assert_type(a.sample(3, length=(0, 5), seed=1), list[bytes])
assert_type(a.minimize(), tokamata.Constraint)

automaton = tokamata.compile(a, vocabulary)
state = automaton.start()
assert_type(state.mask(), npt.NDArray[np.int32])
assert_type(state.allows(1), bool)
assert_type(state.validate([1, 0]), int)
assert_type(state.copy(), tokamata.DecodeState)
assert_type(state.forced_bytes(), bytes)
assert_type(state.forced_tokens(), list[int])
assert_type(state.is_final, bool)
assert_type(automaton.token_acceptor(), tokamata.TokenAcceptor)
assert_type(automaton.token_acceptor().expand(), Fst)
assert_type(automaton.token_acceptor().mask(0), npt.NDArray[np.int32])
ConstrainedLogitsProcessor(automaton, 3)
ConstrainedLogitsProcessor(automaton, [3, 4])

assert_type(minimize(determinize(compose(a.to_fst(), b.to_fst()))), Fst)

tokamata.regex(3)  # type: ignore[arg-type]
tokamata.compile("a", vocabulary)  # type: ignore[call-overload]
tokamata.regex("a", syntax="perl")  # type: ignore[arg-type]
