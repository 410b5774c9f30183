"""What is no path of a file: an error that names the operation."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tokamata.automata import Fst
from tokamata.automata.pdt import read_parens, write_parens
from tokamata.decode.sampling.prefix_tree_model import PrefixTreeModel
from tokamata.decode.token_acceptor import TokenAcceptor

import tokamata

VOCABULARY = tokamata.Vocabulary([b"a", b"b", None], eos_token_ids=[2])
AUTOMATON = tokamata.compile(tokamata.regex("ab*"), VOCABULARY)
MACHINE = AUTOMATON.constraint.to_fst()
CALLS: dict[str, Callable[[Any], object]] = {
    "save": AUTOMATON.save,
    "load": lambda path: tokamata.load(path, VOCABULARY),
    "Vocabulary.from_file": tokamata.Vocabulary.from_file,
    "Vocabulary.save": VOCABULARY.save,
    "Vocabulary.load": tokamata.Vocabulary.load,
    "TokenAcceptor.save": AUTOMATON.token_acceptor().save,
    "TokenAcceptor.load": TokenAcceptor.load,
    "PrefixTreeModel.load": PrefixTreeModel.load,
    "Fst.read": Fst.read,
    "Fst.write": MACHINE.write,
    "Fst.draw": MACHINE.draw,
    "read_parens": read_parens,
    "write_parens": lambda path: write_parens([], path),
}


class InBytes:
    """A path whose name is bytes."""

    def __fspath__(self) -> bytes:
        return b"a.fst"


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_path_is_refused(name: str) -> None:
    for odd, shown in ((5, "int 5"), (1.5, "float 1.5"), ([], "list []"), (InBytes(), "InBytes <")):
        with pytest.raises(TypeError, match=f"^{name}: expected a path as str or os.PathLike, got {re.escape(shown)}"):
            CALLS[name](odd)
    with pytest.raises(ValueError, match=f"^{name}: expected a path, got 'a.x00b'; no file has a NUL in its name"):
        CALLS[name]("a\0b")
    with pytest.raises(ValueError, match=f"^{name}: expected a path, got 'a.ud800'; no file has such a name"):
        CALLS[name]("a\ud800")


def test_a_vocabulary_is_asked_for_before_the_file() -> None:
    with pytest.raises(TypeError, match="load: expected a Vocabulary second, got NoneType"):
        tokamata.load("there is no such file", None)  # type: ignore[arg-type]
