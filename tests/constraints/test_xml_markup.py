"""Markup for given names: against expat."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest
from oracle.lark_parser import parser
from tokamata.automata.errors import ConstraintError
from tokamata.constraints.grammars import text, xml_markup

import tokamata


def is_xml(text: str) -> bool:
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


@pytest.mark.parametrize("attributes", [(), ("x",), ("x", "xx", "y-z")])
def test_random_trees(attributes: tuple[str, ...]) -> None:
    tags = ["a", "ab", "c.d"]
    grammar = xml_markup(tags, attributes)
    accepts, by_lark = tokamata.grammar(grammar).accepts, parser(grammar, "none")
    seed = 3
    rng = random.Random(seed)

    def made(deep: int) -> str:
        tag = rng.choice(tags)
        given = "".join(f' {name}="{rng.choice(("", "v", "&lt;"))}"' for name in attributes if rng.random() < 0.5)
        if deep == 0 or rng.random() < 0.2:
            return f"<{tag}{given}/>"
        inside = "".join(rng.choice(("t", "", "<!-- -->", made(deep - 1))) for _ in range(3))
        return f"<{tag}{given}>{inside}</{tag}>"

    refused = 0
    for _ in range(60):
        member = made(2)
        assert accepts(member), (seed, member)
        assert by_lark(member), (seed, member)
        at = rng.randrange(len(member))
        other = member[:at] + rng.choice(("", "a", "<", "/", ">", ' x="1"', "b")) + member[at + 1 :]
        assert is_xml(other) or not accepts(other), (seed, other)
        assert accepts(other) == by_lark(other), (seed, other)
        refused += not accepts(other)
    assert refused > 10


def test_the_shipped_grammar_is_made_by_it() -> None:
    tags = "a b body code div em h1 h2 head html i li ol p pre span table td title tr ul".split()
    assert xml_markup(tags, ["id", "class", "href", "title"]) == text("xml").replace("// begin names\n", "").replace(
        "// end names\n", ""
    )


def test_prefixes() -> None:
    accepts = tokamata.grammar(xml_markup(["m:x"], ["xmlns:m"])).accepts
    assert accepts('<m:x xmlns:m="u"><m:x/></m:x>')
    assert not accepts('<m:y xmlns:m="u"/>')


def test_what_it_refuses() -> None:
    with pytest.raises(TypeError, match=r"^xml_markup: expected several tags, got one str; pass a list of tags"):
        xml_markup("p")
    with pytest.raises(ConstraintError, match=r"expected at least one tag, got none"):
        xml_markup([])
    with pytest.raises(ConstraintError, match=r"expected ASCII names as tags, got '1'"):
        xml_markup(["1"])
    with pytest.raises(ConstraintError, match=r"expected attributes without repetition, got id, id"):
        xml_markup(["p"], ["id", "id"])
