"""Penn-style constituency brackets over a given sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...automata.checks import checked_count, checked_texts, cut
from ...automata.errors import ConstraintError, LimitError

LABELS = (
    "ROOT S SBAR SBARQ SINV SQ NP VP PP ADJP ADVP CONJP FRAG INTJ LST NAC NX PRN PRT QP RRC UCP WHADJP "
    "WHADVP WHNP WHPP X"
).split()
TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP "
    "VBZ WDT WP WP$ WRB # $ . , : -LRB- -RRB- `` ''"
).split()
_MOST_RULES = 4_000_000
_ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}


def penn_brackets(
    words: Sequence[str],
    *,
    labels: Sequence[str] = LABELS,
    tags: Sequence[str] = TAGS,
    max_depth: int | None = None,
) -> str:
    """Return a grammar (Lark's notation, ``lexer="none"``) of the trees over the words, in their order, on one line.

    A leaf is ``(TAG word)``, any other node ``(LABEL child child ...)`` with single spaces; labels and tags default to
    those of the Penn Treebank. A word that is a bracket is written as there (``-LRB-`` for an opening round one).

    ``max_depth`` None: any nesting, also of a single child, by rules for each span of the n words: n^3 / 6 productions.
    A number: at most so many brackets open at once (a leaf's included), by a right-linear grammar with n * max_depth
    rules, which is regular. Raises ConstraintError where there are no words, labels or tags, for one that is empty or
    holds a bracket or white space, and for a depth that no tree over the words has; LimitError for more than 4 million
    productions.
    """
    labels, tags = checked_texts("penn_brackets", "labels", labels), checked_texts("penn_brackets", "tags", tags)
    words = checked_texts("penn_brackets", "words", words, "use text.split()")
    spelled = [_ESCAPES.get(word, word) for word in words]
    for what, given in (("words", spelled), ("labels", labels), ("tags", tags)):
        if not given:
            raise ConstraintError(f"penn_brackets: expected at least one of the {what}, got none")
        for name in given:
            if not name or any(c in "()" or c.isspace() or not c.isprintable() for c in name):
                raise ConstraintError(f"penn_brackets: expected {what} without brackets and white space, got {name!r}")
    least = 1 if len(words) == 1 else 2
    if max_depth is not None and checked_count("penn_brackets", "max_depth", max_depth) < least:
        raise ConstraintError(
            f"penn_brackets: expected a max_depth of at least {least} for {len(words)} words, got {cut(max_depth)}"
        )
    if (len(words) ** 3 // 6 if max_depth is None else len(words) * max_depth) > _MOST_RULES:
        raise LimitError(
            f"penn_brackets: the limit of {_MOST_RULES:,} productions was reached, with {len(words)} words and "
            f"max_depth={cut(max_depth)}; pass a smaller max_depth"
        )
    heads = [
        "LABEL: " + " | ".join(json.dumps(f"({name} ") for name in dict.fromkeys(labels)),
        "TAG: " + " | ".join(json.dumps(f"({name} ") for name in dict.fromkeys(tags)),
    ]
    leaves = [json.dumps(f"{word})", ensure_ascii=False) for word in spelled]
    rules = _spans(leaves) if max_depth is None else _levels(leaves, max_depth)
    return "\n".join(["// lexer: none", *heads, *rules]) + "\n"


def _spans(leaves: Sequence[str]) -> list[str]:
    n = len(leaves)
    rules = [f"start: tree_0_{n}"]
    for i in range(n):
        for j in range(i + 1, n + 1):
            leaf = f" | TAG {leaves[i]}" if j == i + 1 else ""
            rules.append(f'tree_{i}_{j}: LABEL forest_{i}_{j} ")"{leaf}')
            several = "".join(f' | tree_{i}_{k} " " forest_{k}_{j}' for k in range(i + 1, j))
            rules.append(f"forest_{i}_{j}: tree_{i}_{j}{several}")
    return rules


def _levels(leaves: Sequence[str], depth: int) -> list[str]:
    """Return rules for places in the tree: i words written and d brackets open, before a node or after one."""
    n = len(leaves)
    rules = ["start: node_0_0"]
    for i in range(n):
        for d in range(min(i, 1), depth):
            deeper = [f"LABEL node_{i}_{d + 1}"] if d + 1 < depth else []
            leaf = [f"TAG {leaves[i]} after_{i + 1}_{d}"] if d or n == 1 else []
            rules.append(f"node_{i}_{d}: {' | '.join(deeper + leaf)}")
    for i in range(1, n + 1):
        for d in range(int(i < n), depth):
            closed = [f'")" after_{i}_{d - 1}'] if d > 1 or (d and i == n) else []
            further = [f'" " node_{i}_{d}'] if i < n else []
            rules.append(f"after_{i}_{d}: {' | '.join(closed + further)}")
    return rules
