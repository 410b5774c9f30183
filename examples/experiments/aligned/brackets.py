"""Constituency brackets: sentences parsed by a language model that may only write trees over their words.

    python examples/experiments/aligned/brackets.py --samples 10      # Gemma 3 270M; MODEL=folder for another

Three sentences are shown with their trees; for each other one, trees are drawn by masking and by ASAp and compared with
a tree written by hand (labelled bracket F1). A small model guesses; the figures compare samplers, not parsers.
Sentences and trees are this project's own.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter

from rich.console import Console
from rich.table import Table
from table import stop_tokens, the_model
from tokamata.constraints.grammars import penn_brackets
from tokamata.decode.sampling import ASAp, Masked, TransformersModel

import tokamata

LABELS = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "ADVP")
TAGS = ("DT", "NN", "NNS", "NNP", "PRP", "VBD", "VBZ", "VBP", "VB", "VBN", "IN", "JJ", "RB", "MD", "TO", "CC", ".")
SHOWN = (
    "(S (NP (DT The) (NN kettle)) (VP (VBZ sings) (PP (IN on) (NP (DT the) (NN stove)))) (. .))",
    "(S (NP (PRP She)) (VP (VBD mended) (NP (DT an) (JJ old) (NN clock))) (. .))",
    "(S (NP (NP (NNS Letters)) (PP (IN from) (NP (NNP Oslo)))) (VP (VBD arrived) (ADVP (RB late))) (. .))",
)
ASKED = (
    "(S (NP (DT The) (NN gardener)) (VP (VBD watered) (NP (DT the) (NNS roses))) (. .))",
    "(S (NP (PRP He)) (VP (VBZ reads) (PP (IN in) (NP (DT the) (NN kitchen)))) (. .))",
    "(S (NP (DT A) (JJ grey) (NN cat)) (VP (VBD slept)) (. .))",
    "(S (NP (NP (DT The) (NN road)) (PP (IN to) (NP (NNP Bergen)))) (VP (VBZ is) (ADJP (JJ steep))) (. .))",
)


def words_of(tree: str) -> list[str]:
    """The leaves of a tree."""
    return re.findall(r" ([^ ()]+)\)", tree)


def spans_of(tree: str) -> Counter[tuple[str, int, int]]:
    """The labelled spans of a tree; tags count as well."""
    spans: Counter[tuple[str, int, int]] = Counter()
    stack: list[tuple[str, int]] = []
    at = 0
    for part in re.findall(r"\([^ ()]+|\)|[^ ()]+", tree):
        if part == ")":
            label, begin = stack.pop()
            spans[label, begin, at] += 1
        elif part.startswith("("):
            stack.append((part[1:], at))
        else:
            at += 1
    return spans


def f1(tree: str, right: str) -> float:
    """Labelled bracket F1 of a tree, 0 to 1."""
    ours, theirs = spans_of(tree), spans_of(right)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def prompt(words: list[str]) -> str:
    """A few-shot prompt that ends where the tree begins."""
    parts = [f"Sentence: {' '.join(words_of(tree))}\nTree: {tree}\n" for tree in SHOWN]
    return (
        "Write the constituency tree of each sentence.\n\n" + "\n".join(parts) + f"\nSentence: {' '.join(words)}\nTree:"
    )


def constraint(words: list[str], max_depth: int = 6) -> tokamata.Constraint:
    """A blank and a tree over the words."""
    grammar = penn_brackets(words, labels=LABELS, tags=TAGS, max_depth=max_depth)
    return tokamata.literal(" ") + tokamata.grammar(grammar, lexer="none")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--sentences", type=int, default=len(ASKED))
    parser.add_argument("--max-tokens", type=int, default=96)
    chosen = parser.parse_args(arguments)

    console = Console()
    model, tokenizer, vocabulary = the_model(console)
    stop = stop_tokens(vocabulary)
    table = Table("sentence", "sampler", "F1 first", "F1 mean", "F1 of the likeliest", "mean log p", "model calls")
    for right in ASKED[: chosen.sentences]:
        words = words_of(right)
        lm = TransformersModel(model, prompt(words), tokenizer)
        automaton = tokamata.compile(constraint(words), vocabulary)
        for name, sampler, options in (
            ("masked", Masked, {}),
            ("ASAp, state leaf", ASAp, {"leaf": "state", "batch": 4}),
        ):
            one = sampler(lm, automaton, stop=stop, max_tokens=chosen.max_tokens, seed=1, **options)  # type: ignore[operator]
            samples = one.sample(chosen.samples, progress=True)
            scores = [f1(s.text, right) for s in samples]
            best = max(samples, key=lambda s: s.log_p_model)
            table.add_row(
                " ".join(words),
                name,
                f"{scores[0]:.2f}",
                f"{sum(scores) / len(scores):.2f}",
                f"{f1(best.text, right):.2f}",
                f"{math.fsum(s.log_p_model for s in samples) / len(samples):.1f}",
                str(one.statistics.model_calls),
            )
            console.print(f"{name}: {best.text.strip()}", highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
