"""TokenAutomaton: the literal recipe against masks, and files."""

from __future__ import annotations

import random
from pathlib import Path

import pynini
import pytest
from oracle.mask_walk import allowed
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.automata import Fst
from tokamata.tokenizer_fst.artifact import write_artifact

import tokamata


@pytest.mark.parametrize("block", range(4))
def test_edges_of_the_recipe_are_the_masks(block: int) -> None:
    """Walk every state of the explicit token acceptor beside a decoding state."""
    compared = 0
    for seed in range(100 * block, 100 * block + 25):
        rng = random.Random(seed)
        constraint, _, text = random_constraint(rng, depth=2, algebra=seed % 2 == 0)
        tokens, eos = random_vocabulary(rng, complete=seed % 3 > 0)
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
        except tokamata.ConstraintError:  # the constraint is empty or cannot be spelled
            continue
        fst = automaton.to_fst()
        todo, seen = [(fst.start(), automaton.start())], {fst.start()}
        while todo:
            s, state = todo.pop()
            labels = [arc.ilabel - 1 for arc in fst.arcs(s)]
            assert len(set(labels)) == len(labels), f"seed {seed}: {text}: not deterministic"
            want = set(labels) | (set(eos) if fst.is_final(s) else set())
            assert set(allowed(state.mask())) == want, f"seed {seed}: {text}, state {s}"
            compared += 1
            for arc in fst.arcs(s):
                if arc.nextstate not in seen:
                    seen.add(arc.nextstate)
                    following = state.copy()
                    following.advance(arc.ilabel - 1)
                    todo.append((arc.nextstate, following))
    assert compared > 40


@pytest.mark.parametrize("seed", range(15))
def test_save_and_load(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    constraint, model, text = random_constraint(rng, depth=2)
    while constraint.is_empty():
        constraint, model, text = random_constraint(rng, depth=2)
    tokens, eos = random_vocabulary(rng, complete=True)
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=eos)
    automaton = tokamata.compile(constraint, vocabulary)
    automaton.save(tmp_path / "a.fst")
    loaded = tokamata.load(tmp_path / "a.fst", vocabulary)
    assert loaded.constraint.equivalent(constraint)
    assert loaded.constraint.source == constraint.source
    a, b = automaton.start(), loaded.start()
    for _ in range(8):
        assert (a.mask() == b.mask()).all(), f"seed {seed}: {text}"
        choices = sorted(set(allowed(a.mask())) - set(eos))
        if not choices:
            break
        token = rng.choice(choices)
        a.advance(token)
        b.advance(token)
    opened = pynini.Fst.read(str(tmp_path / "a.fst"))
    for member in constraint.examples(3):
        labels = pynini.Fst()
        labels.add_states(len(member) + 1)
        labels.set_start(0)
        labels.set_final(len(member))
        for i, byte in enumerate(member):
            labels.add_arc(i, pynini.Arc(byte or 256, byte or 256, 0, i + 1))
        assert pynini.compose(labels, opened).num_states() > 0, f"seed {seed}: {text}: {member!r}"
        assert model.accepts(member)


def test_from_fst_takes_every_kind(tmp_path: Path) -> None:
    acceptor = pynini.union("cat", "dog")
    acceptor.write(str(tmp_path / "pets.fst"))
    want = tokamata.choice(["cat", "dog"])
    for source in (acceptor, tmp_path / "pets.fst", str(tmp_path / "pets.fst"), Fst.read(tmp_path / "pets.fst")):
        assert tokamata.from_fst(source).equivalent(want)
    assert tokamata.from_fst(pynini.closure(acceptor)).equivalent(want.repeat())
    with pytest.raises(TypeError, match="from_fst: expected an Fst, a pynini or pywrapfst Fst, or a path, got int"):
        tokamata.from_fst(3)
    with pytest.raises(
        tokamata.FstError, match=r"from_fst: expected an acceptor, got a transducer \(state \d+ has the arc"
    ):
        tokamata.from_fst(pynini.cross("a", "b"))
    with pytest.raises(tokamata.FstError, match=r"from_fst: expected byte labels .* got label 300"):
        tokamata.from_fst(pynini.accep("[300]"))


def test_refused_files(tmp_path: Path) -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
    automaton = tokamata.compile(tokamata.choice(["a", "ab"]), vocabulary)
    path = tmp_path / "a.fst"
    with pytest.raises(FileNotFoundError, match=r"a\.fst"):
        tokamata.load(path, vocabulary)
    vocabulary.save(path)
    with pytest.raises(tokamata.ConstraintError, match=r"load: .* is no saved token automaton; .*Vocabulary\.load"):
        tokamata.load(path, vocabulary)
    automaton.save(path)
    data = path.read_bytes()
    rng = random.Random(5)
    for _ in range(300):
        damaged = bytearray(data)
        if rng.random() < 0.5:
            del damaged[rng.randrange(len(data)) :]
        else:
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(tokamata.ConstraintError):
            tokamata.load(path, vocabulary)
    with pytest.raises(tokamata.LimitError, match="to_fst: the limit states=10 was reached"):
        tokamata.compile(tokamata.literal("a").repeat(0, 100), vocabulary).save(path, max_states=10)


FOREIGN = [
    *(b"", b"{", b"\xff", b"null", b"5", b"[]", b"{}", b"[" * 100_000),
    *(f'{{"source": "a", "report": {odd}}}'.encode() for odd in ("5", "[5]", "[[]]", "[[1, 2, 3]]", '[["a"]]', "{")),
    *(f'{{"report": [], "source": {odd}}}'.encode() for odd in ("null", "[]", "5")),
    *(f'{{"report": [], "source": "a", "special_tokens": {odd}}}'.encode() for odd in ("5", "[5]", "[[]]")),
    *(
        f'{{"report": [], "source": "a", "token_classes": {odd}}}'.encode()
        for odd in ("5", "[5]", "[{}]", '[{"name": 5}]', '[{"name": "x", "fst": "!!"}]', '[{"name": "x", "other": 1}]')
    ),
]


@pytest.mark.parametrize("section", FOREIGN, ids=lambda section: section[:60].decode(errors="replace"))
def test_foreign_sections_are_refused(section: bytes, tmp_path: Path) -> None:
    """The checksum is right, so the file is undamaged, and another program wrote it."""
    vocabulary = tokamata.Vocabulary([b"a", None], eos_token_ids=[1])
    write_artifact(tmp_path / "a.fst", tokamata.literal("a").to_fst().to_bytes("const"), {"constraint": section})
    with pytest.raises(tokamata.ConstraintError, match=r"^load: .*a\.fst': expected what save keeps .* save the aut"):
        tokamata.load(tmp_path / "a.fst", vocabulary)


def test_counters_matter_where_only_long_tokens_end_a_text() -> None:
    tokens = [b'"', b"a", b"aaaa", b"bbbbb."]
    automaton = tokamata.compile(
        tokamata.regex(r'"[ab]{0,20}\.'), tokamata.Vocabulary([*tokens, None], eos_token_ids=[len(tokens)])
    )
    state = automaton.start()
    for token in (0, 1, 1):
        state.advance(token)
    assert [t for t in range(4) if state.mask()[0] >> t & 1] == [1, 2, 3]  # 18 are left: room for aaaa and bbbbb.
    for token in (2, 2, 2, 1):
        state.advance(token)
    assert [t for t in range(4) if state.mask()[0] >> t & 1] == [3]  # 5 are left
