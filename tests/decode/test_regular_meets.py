"""Masks of intersections whose operands are looked at one by one, against walking the vocabulary."""

from __future__ import annotations

import random

import pytest
from oracle import mask_walk

import tokamata

CHARACTERS = [".", r"[^\n]", "[^,]", r"\S", r"[^\s.]", '[^"]', r"(?:.|\n)", "[^<>]"]
WORDS = ["://", "ab", "--", r"\s{2}", r"\.\.", "[;,]", r"\bab\b", "é", "[._-]{2}"]
SEPARATORS = [r"\.", ", ?", r"\n", "-", " ", "/"]
ENDS = ["", "[a-z]+", r"\w", r"[a-z0-9-]+\.?", "ab", r"\S", r"(?<=\S)", r"(?<=[a-z])"]
PIECES = [b"a", b"b", b"c", b"0", b"x", b" ", b".", b",", b"-", b"/", b":", b"\n", b'"', "é".encode(), "日".encode()]


def parts(rng: random.Random) -> str:
    """Texts in parts that are counted, and so are their characters; or one such part."""
    character, end = rng.choice(CHARACTERS), rng.choice(ENDS)
    part = f"{character}{{{rng.choice([0, 1, 2])},{rng.choice([3, 9, 26, 40, 63, 90, 150])}}}"
    if rng.random() < 0.3:
        return part + end
    turns = rng.choice(["*", "+", f"{{{rng.choice([0, 1, 2])},{rng.choice([2, 8, 30, 130])}}}"])
    return f"(?:{part}{rng.choice(SEPARATORS)}){turns}{end}"


def condition(rng: random.Random) -> str:
    what = rng.random()
    if what < 0.5:
        return f"(?!.*{rng.choice(WORDS)})"
    if what < 0.8:
        return f"(?={rng.choice(['.', '[^,]'])}{{{rng.choice([0, 1, 4])},{rng.choice([20, 45, 90, 255])}}}$)"
    return f"(?=.*{rng.choice(['[0-9]', '[a-c]', 'x'])})"


def vocabulary(rng: random.Random) -> tokamata.Vocabulary:
    """Of many tokens, so that they are not just walked; some are longer than what is left of most counters."""
    made = {b"".join(rng.choices(PIECES, k=rng.randint(1, 9))) for _ in range(6000)}
    made |= {b"".join(rng.choices(PIECES, k=rng.randint(20, 70))) for _ in range(100)}
    made |= {rng.choice(PIECES) * rng.randint(20, 130) for _ in range(100)}
    return mask_walk.with_bytes(made)


def check(constraint: tokamata.Constraint, opening: bytes, rng: random.Random, *where: object) -> int:
    """Masks along walks, some with tokens that soon use up what is counted; how many were compared."""
    automaton = tokamata.compile(constraint, vocabulary(rng))
    compared = 0
    for long in (0.0, 0.3, 0.9):
        state = mask_walk.begun(automaton, opening)
        for _ in range(8):
            tokens = mask_walk.agreed(automaton, state, *where)
            compared += 1
            if not tokens:
                break
            some = rng.choices(tokens, k=10 if rng.random() < long else 1)
            state.advance(max(some, key=lambda i: len(automaton.vocabulary.token_bytes(i) or b"")))
    return compared


@pytest.mark.parametrize("seed", range(60))
def test_masks_agree_with_walking(seed: int) -> None:
    rng = random.Random(seed)
    while True:
        pattern = "^" + "".join(condition(rng) for _ in range(rng.randint(1, 2))) + parts(rng) + "$"
        constraint = tokamata.regex(pattern)
        if not constraint.is_empty():
            break
    print(f"seed {seed}: {pattern}")
    if rng.random() < 0.4:
        strings = rng.choice(["any", "canonical"])
        value = tokamata.json_schema(
            {"type": "array", "items": {"type": "string", "pattern": pattern}}, strings=strings
        )
        assert check(value, b'["', rng, seed, pattern, strings) > 3
    else:
        assert check(constraint, b"", rng, seed, pattern) > 3


LINE = r"[^\n]"


@pytest.mark.parametrize(
    "constraint",
    [
        # What follows can go on in one operand and not in the other.
        (tokamata.regex(rf"{LINE}*a") & tokamata.regex(rf'[^"]*{LINE}')) + tokamata.regex(r'"[ab]*'),
        (tokamata.regex(rf"(?!{LINE}*--)(?:{LINE}{{1,40}}-)+") & tokamata.regex(r'[^"]{0,90}')) + tokamata.regex('"x*'),
        (tokamata.regex(r"(?s)(?!.*ab).*") & tokamata.regex(r'[^"]*') & tokamata.regex(f"{LINE}*"))
        + tokamata.regex('"ab'),
        (tokamata.regex(r'[^"]*"?') & tokamata.regex(f"{LINE}*")) + tokamata.regex('"[ab]+'),
        # Ends of which few are there, and some beginnings that have none.
        tokamata.regex(r"(?=.{0,40}$)(?!.*--)(?:.{1,30}-)*ab"),
        tokamata.regex(r"(?=(?:..)*$)(?=(?:...)*$)(?!.*ab).{0,60}"),
        tokamata.regex(r"(?=.{30,45}$)(?!.*\s{2})(?:\S{1,26} )*\S{1,26}"),
        tokamata.regex(r"(?!.*a).*") & (tokamata.regex(r"[^b]*a[^b]*") | tokamata.regex("[^,]{0,60}/")),
        # Bounds that are near, and far.
        tokamata.regex(r"(?!.*://)(?=.{1,255}$)(?:.{1,63}\.){1,127}(?![0-9]*$)[a-z0-9-]+\.?"),
        tokamata.regex(r"(?!.*<)(?:[^\n]{1,72}\n){1,50}"),
        tokamata.regex(r"(?!.*\.\.)(?:.{24}\.)*(?:.{0,25})?") & ~tokamata.regex(r"(?s).{77,}"),
    ],
)
def test_ends_and_bounds(constraint: tokamata.Constraint) -> None:
    for seed in range(4):
        rng = random.Random(seed)
        print(f"seed {seed}")
        assert check(constraint, b"", rng, seed, constraint) > 3
