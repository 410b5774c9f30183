"""Token acceptors with terminal labels: expanded, they are the literal recipe's machine."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pynini
import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file
from oracle.random_constraint import random_constraint, random_vocabulary
from tokamata.automata import Fst, SymbolTable, connect, equivalent, isomorphic, minimize
from tokamata.tokenizer_fst.artifact import write_artifact

import tokamata


def check_parts(acceptor: tokamata.TokenAcceptor, where: str) -> None:
    """Labels are in order, named, and of sets that are disjoint in every state; nothing is superfluous."""
    symbols = acceptor.fst.input_symbols
    assert symbols is not None
    used = {arc.ilabel for s in acceptor.fst.states() for arc in acceptor.fst.arcs(s)}
    assert set(acceptor.terminals) <= used, f"{where}: a terminal on no arc"
    assert {key for key, _ in symbols} == used | {0}, where
    assert not any(re.search(r"\s", name) for _, name in symbols), where
    contents = [tuple(ids) for ids in acceptor.terminals.values()]
    assert len(set(contents)) == len(contents), f"{where}: two terminals of the same tokens"
    for s in acceptor.fst.states():
        labels = [arc.ilabel for arc in acceptor.fst.arcs(s)]
        assert labels == sorted(labels), where
        tokens = np.concatenate([np.zeros(0, np.int32), *map(acceptor.tokens, labels)])
        assert len(set(tokens.tolist())) == len(tokens), f"{where}: state {s}"
    assert connect(acceptor.fst).num_states() == acceptor.num_states, f"{where}: not trim"
    expanded = acceptor.expand()
    assert expanded.num_arcs() == acceptor.num_token_arcs, where
    labels_of = [arc.ilabel for arc in expanded.arcs(0)]
    assert labels_of == sorted(labels_of), where


@pytest.mark.parametrize("block", range(4))
def test_expanded_it_is_the_literal_machine(block: int) -> None:
    terminals = 0
    for seed in range(1000 * block, 1000 * block + 40):
        rng = random.Random(seed)
        constraint, _, text = random_constraint(rng, depth=2, algebra=seed % 2 == 0)
        tokens, eos = random_vocabulary(rng, complete=seed % 3 > 0)
        where = f"seed {seed}: {text}"
        try:
            automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
        except tokamata.ConstraintError:  # the constraint is empty or cannot be spelled
            continue
        acceptor = automaton.token_acceptor(min_tokens=rng.choice([1, 2, 8, 1000]))
        check_parts(acceptor, where)
        terminals += len(acceptor.terminals)
        literal = automaton.to_fst()
        assert equivalent(acceptor.expand(), literal), where
        assert isomorphic(minimize(acceptor.expand()), literal), where
    assert terminals > 100


@pytest.mark.parametrize("seed", range(40))
def test_its_masks_are_those_of_decoding(seed: int) -> None:
    rng = random.Random(seed)
    constraint, _, text = random_constraint(rng, depth=3)
    tokens, eos = random_vocabulary(rng, complete=True)
    if constraint.is_empty():
        return
    automaton = tokamata.compile(constraint, tokamata.Vocabulary(tokens, eos_token_ids=eos))
    acceptor = automaton.token_acceptor(min_tokens=2)
    todo, seen = [(acceptor.fst.start(), automaton.start())], {acceptor.fst.start()}
    while todo:
        s, state = todo.pop()
        want = state.mask()
        for token in eos:
            want[token // 32] &= np.int32(~np.uint32(1 << token % 32).astype(np.int32))
        assert (acceptor.mask(s) == want).all(), f"seed {seed}: {text}"
        assert acceptor.fst.is_final(s) == state.is_final, f"seed {seed}: {text}"
        for arc in acceptor.fst.arcs(s):
            if arc.nextstate not in seen:
                seen.add(arc.nextstate)
                following = state.copy()
                following.advance(int(rng.choice(acceptor.tokens(arc.ilabel).tolist())))
                todo.append((arc.nextstate, following))
    assert len(seen) == acceptor.num_states


@pytest.fixture(scope="module")
def qwen() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("qwen"))


@pytest.mark.parametrize(
    ("pattern", "states", "at_most"),
    [
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 11, 10),
        (r'"[^"\\]{0,1}"', 11, 40),
        (r"[a-z]{2,3}(x|[0-9]{2})?", 6, 40),
    ],
)
def test_qwen_against_the_literal_recipe(qwen: tokamata.Vocabulary, pattern: str, states: int, at_most: int) -> None:
    automaton = tokamata.compile(tokamata.regex(pattern), qwen)
    acceptor = automaton.token_acceptor()
    check_parts(acceptor, pattern)
    assert acceptor.num_states == states
    assert acceptor.num_arcs <= at_most
    literal = automaton.to_fst()
    assert equivalent(acceptor.expand(), literal)
    assert isomorphic(minimize(acceptor.expand()), literal)


def test_a_counted_string_is_small(qwen: tokamata.Vocabulary) -> None:
    """The paper's example of wildcards that multiply with the vocabulary: as arcs of tokens it has millions."""
    automaton = tokamata.compile(tokamata.regex(r'"[^"\\]{0,50}"'), qwen)
    acceptor = automaton.token_acceptor()
    assert acceptor.num_token_arcs > 6_000_000
    assert acceptor.num_arcs < 6_000
    assert acceptor.nbytes < 1_000_000
    rng = random.Random(1)
    names = acceptor.fst.input_symbols
    assert names is not None
    for _ in range(20):  # random paths beside a decoding state
        s, state = acceptor.fst.start(), automaton.start()
        while list(acceptor.fst.arcs(s)):
            want = mask_walk.allowed(state.mask())
            have = mask_walk.allowed(acceptor.mask(s))
            assert have == want
            arc = rng.choice(list(acceptor.fst.arcs(s)))
            token = int(rng.choice(acceptor.tokens(arc.ilabel).tolist()))
            name = names.symbol(arc.ilabel)
            counted = re.fullmatch(r'<\[\^"\\\\\](?:\{(\d+)\})?>', name or "")
            if counted:
                assert len((qwen.token_bytes(token) or b"").decode()) == int(counted[1] or 1), name
            state.advance(token)
            s = arc.nextstate
        assert state.is_final


def test_names(qwen: tokamata.Vocabulary) -> None:
    def names(pattern: str) -> list[str]:
        table = tokamata.compile(tokamata.regex(pattern), qwen).token_acceptor().fst.input_symbols
        assert table is not None
        return [name for key, name in table if key > len(qwen)]

    assert names(r"[0-9]{3}") == ["<[0-9]>"]
    assert names(r"[a-f ]*") == [r"<[\x20a-f]+>"]
    assert names(r"[^\]\\]{1,2}")[:3] == [r"<[^\\\]]>", r"<[^\\\]]{2}>", r"<[^\\\]]-1>"]
    assert names(r"(.|\n)*")[:3] == ["<.+>", "<.+-1>", "<.+-2>"]
    assert r"<-de|-be|-dd|...12>" in names(r"[0-9a-f]{2}-[0-9a-f]{2}")


def test_save_and_load(qwen: tokamata.Vocabulary, tmp_path: Path) -> None:
    acceptor = tokamata.compile(tokamata.regex(r"[a-z]{1,5}-[^x]{2}"), qwen).token_acceptor()
    path = tmp_path / "a.fst"
    acceptor.save(path)
    loaded = tokamata.TokenAcceptor.load(path)
    assert loaded.fst.to_text() == acceptor.fst.to_text()
    assert loaded.num_tokens == len(qwen)
    assert list(loaded.terminals) == list(acceptor.terminals)
    assert all((loaded.terminals[k] == ids).all() for k, ids in acceptor.terminals.items())
    assert isomorphic(loaded.expand(), acceptor.expand())
    opened = pynini.Fst.read(str(path))
    assert opened.num_states() == acceptor.num_states
    assert opened.input_symbols().find(len(qwen) + 1) in {"<[a-z]>", b"<[a-z]>"}
    with pytest.raises(ValueError, match="read-only"):
        next(iter(loaded.terminals.values()))[0] = 0
    with pytest.raises(TypeError):
        loaded.terminals[1] = np.zeros(1, np.int32)  # type: ignore[index]


def test_refused_files(tmp_path: Path) -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"ab", None], eos_token_ids=[3])
    automaton = tokamata.compile(tokamata.regex("[ab]{0,3}"), vocabulary)
    path = tmp_path / "a.fst"
    with pytest.raises(FileNotFoundError, match=r"a\.fst"):
        tokamata.TokenAcceptor.load(path)
    automaton.save(path)
    with pytest.raises(tokamata.ConstraintError, match=r"load: .* is no saved token acceptor; .*tokamata\.load"):
        tokamata.TokenAcceptor.load(path)
    acceptor = automaton.token_acceptor(min_tokens=2)
    acceptor.save(path)
    with pytest.raises(tokamata.ConstraintError, match="is no saved token automaton"):
        tokamata.load(path, vocabulary)
    data = path.read_bytes()
    rng = random.Random(7)
    for _ in range(200):
        damaged = bytearray(data)
        if rng.random() < 0.5:
            del damaged[rng.randrange(len(data)) :]
        else:
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(tokamata.ConstraintError):
            tokamata.TokenAcceptor.load(path)
    bare = [4, 1, 0]  # tokens, terminals, offsets; then ids
    for section in (
        b"",
        np.array(bare, "<i8").tobytes(),
        np.array([4, 10**12, 0], "<i8").tobytes(),
        np.array([4, -1, 0], "<i8").tobytes(),
        np.array([4, 1, 0, 3], "<i8").tobytes() + np.array([0, 1], "<i4").tobytes(),
        np.array([4, 1, 0, 2], "<i8").tobytes() + np.array([1, 0], "<i4").tobytes(),
        np.array([4, 1, 0, 2], "<i8").tobytes() + np.array([1, 4], "<i4").tobytes(),
    ):
        write_artifact(path, acceptor.fst.to_bytes("const"), {"terminals": section})
        with pytest.raises(tokamata.ConstraintError, match=r"save the acceptor again|do not fit|rising token ids"):
            tokamata.TokenAcceptor.load(path)


def test_made_by_hand() -> None:
    fst = Fst()
    fst.add_states(2)
    fst.set_start(0)
    fst.set_final(1)
    fst.add_arc(0, 4, 4, None, 1)
    fst.add_arc(1, 1, 1, None, 1)
    acceptor = tokamata.TokenAcceptor(fst, 3, {4: [1, 2]})
    assert acceptor.expand().to_text(acceptor=True) == "0\t1\t2\n0\t1\t3\n1\t1\t1\n1\n"
    assert acceptor.mask(0).tolist() == [6]
    with pytest.raises(KeyError):
        acceptor.tokens(5)
    with pytest.raises(tokamata.ConstraintError, match="expected terminal labels 4, 5, … without gaps"):
        tokamata.TokenAcceptor(fst, 3, {5: [1, 2]})
    for wrong in ([2, 1], [1, 1], [-1], [3], [0.5]):
        with pytest.raises(tokamata.ConstraintError, match=r"expected (rising )?token ids"):
            tokamata.TokenAcceptor(fst, 3, {4: wrong})
    with pytest.raises(tokamata.FstError, match=r"expand: state 0 has the arc 4:4; expected token labels 1\.\.3"):
        tokamata.TokenAcceptor(fst, 3, {}).expand()
    transducer = fst.copy()
    transducer.add_arc(0, 1, 2, None, 1)
    with pytest.raises(tokamata.FstError, match="has the arc 1:2"):
        tokamata.TokenAcceptor(transducer, 3, {4: [1]}).expand()


def test_limits() -> None:
    vocabulary = tokamata.Vocabulary([b"a", b"b", b"ab", None], eos_token_ids=[3])
    automaton = tokamata.compile(tokamata.regex("[ab]{0,1000}"), vocabulary)
    with pytest.raises(tokamata.LimitError, match="token_acceptor: the limit max_states=100 was reached"):
        automaton.token_acceptor(max_states=100)
    with pytest.raises(tokamata.LimitError, match="token_acceptor: the limit max_bytes=1000 was reached"):
        automaton.token_acceptor(max_bytes=1000)
    acceptor = automaton.token_acceptor()  # unharmed
    assert acceptor.num_states == 1001
    with pytest.raises(tokamata.LimitError, match=r"TokenAcceptor\.expand: the limit max_arcs=2000 was reached"):
        acceptor.expand(max_arcs=2000)
    limits = tokamata.Limits(search_seconds=0.05)
    complete = tokamata.Vocabulary([bytes([b]) for b in range(256)] + [b"ab", None], eos_token_ids=[257])
    slow = tokamata.compile(tokamata.regex("(?s).*a.{16}"), complete, limits=limits)
    with pytest.raises(tokamata.LimitError, match=r"token_acceptor: the limit search_seconds=0\.05 was reached"):
        slow.token_acceptor()
    assert slow.num_states < 10, "decoding got states that it did not ask for"
    for name in ("min_tokens", "max_states", "max_bytes"):
        with pytest.raises(ValueError, match=f"token_acceptor: expected {name} >= 1, got 0"):
            automaton.token_acceptor(**{name: 0})


def test_many_kinds_of_wildcards_are_limited(qwen: tokamata.Vocabulary) -> None:
    automaton = tokamata.compile(tokamata.regex("".join(f"[^;{c}]{{0,2}};" for c in "abcdefghij")), qwen)
    assert automaton.token_acceptor(max_bytes=100_000_000).num_states < 300
    with pytest.raises(tokamata.LimitError, match="limit max_bytes=4000000 was reached by arcs, token sets"):
        automaton.token_acceptor(max_bytes=4_000_000)


def test_names_stay_unique() -> None:
    """A token whose bytes look like a terminal's name, equal tokens, and sets that look alike."""
    tokens = [b"<[ab]>", b"a", b"b", b"a", b"c", None]
    vocabulary = tokamata.Vocabulary(tokens, eos_token_ids=[5])
    constraint = tokamata.choice(["a", "b", "<[ab]>"]).repeat(0, 3)
    acceptor = tokamata.compile(constraint, vocabulary).token_acceptor(min_tokens=4)
    check_parts(acceptor, "unique")
    acceptor = tokamata.compile(tokamata.regex(r"(<\[ab\]>)?x?[ab]"), vocabulary).token_acceptor(min_tokens=2)
    check_parts(acceptor, "unique")
    table = acceptor.fst.input_symbols
    assert isinstance(table, SymbolTable)
    assert table.symbol(1) == "<[ab]>"
    assert [table.symbol(k) for k in acceptor.terminals] == ["<[ab]>#6"]
