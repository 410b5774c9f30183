"""Constituency brackets: sentences parsed by a language model that may only write trees over their words.

    python examples/experiments/aligned/brackets.py                   # Gemma 3 270M; MODEL=folder for another

Three sentences are shown with their trees; for each other one, trees are drawn by masking, ASAp and particles and
compared with a tree written by hand (labelled bracket F1, tags included). "Weighted" takes the samples' weights into
account: an estimate of what the model means on condition that it writes a tree over the words. A small model guesses;
the figures compare samplers, not parsers. Sentences and trees are this project's own.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table
from table import stop_tokens, the_model
from tokamata.constraints.grammars import penn_brackets
from tokamata.decode.sampling import SMC, ASAp, Masked, Sample, TransformersModel

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
    "(S (NP (NNS Children)) (VP (VBP love) (NP (JJ sweet) (NNS plums))) (. .))",
    "(S (NP (DT The) (NN train)) (VP (MD will) (VP (VB leave) (PP (IN at) (NP (NN noon))))) (. .))",
    "(S (NP (PRP We)) (VP (VBD saw) (NP (NP (DT a) (NN boat)) (PP (IN on) (NP (DT the) (NN lake))))) (. .))",
    "(S (NP (NNP Marta)) (VP (VBZ sings) (CC and) (VBZ dances)) (. .))",
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


SAMPLERS: dict[str, tuple[type, dict[str, Any]]] = {
    "Masked": (Masked, {}),
    "ASAp, state leaf": (ASAp, {"leaf": "state", "batch": 8}),
    "SMC, state twist": (SMC, {"twist": "state", "particles": 16}),
}


def figures(samples: list[Sample], right: str) -> tuple[float, ...]:
    """F1 of the first sample, mean, weighted mean, that of the likeliest; mean log p."""
    scores = [f1(s.text, right) for s in samples]
    top = max(s.log_weight for s in samples)
    weights = [math.exp(s.log_weight - top) for s in samples]
    best = max(samples, key=lambda s: s.log_p_model)
    return (
        scores[0],
        sum(scores) / len(scores),
        math.fsum(w * f for w, f in zip(weights, scores, strict=True)) / math.fsum(weights),
        f1(best.text, right),
        math.fsum(s.log_p_model for s in samples) / len(samples),
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--sentences", type=int, default=len(ASKED))
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--dtype", default="bfloat16", help="of the model")
    chosen = parser.parse_args(arguments)

    console = Console()
    model, tokenizer, vocabulary = the_model(console, chosen.dtype)
    stop = stop_tokens(vocabulary)
    titles = ("F1 first", "F1 mean", "F1 weighted", "F1 of the likeliest", "mean log p")
    table = Table("sentence", "sampler", *titles, "log Z", "model calls")
    columns: dict[str, list[tuple[float, ...]]] = {name: [] for name in SAMPLERS}
    for right in ASKED[: chosen.sentences]:
        words = words_of(right)
        lm = TransformersModel(model, prompt(words), tokenizer)
        automaton = tokamata.compile(constraint(words), vocabulary)
        for name, (sampler, options) in SAMPLERS.items():
            one = sampler(lm, automaton, stop=stop, max_tokens=chosen.max_tokens, seed=1, **options)
            samples = one.sample(chosen.samples, progress=True)
            row = figures(samples, right)
            columns[name].append(row)
            known = one.statistics
            cells = (*(f"{f:.2f}" for f in row[:4]), f"{row[4]:.1f}", f"{known.log_z:.1f}", str(known.model_calls))
            table.add_row(" ".join(words), name, *cells)
            best = max(samples, key=lambda s: s.log_p_model)
            console.print(f"{name}: {best.text.strip()}", highlight=False)
    for name, rows in columns.items():
        means = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
        table.add_row("mean", name, *(f"{f:.2f}" for f in means[:4]), f"{means[4]:.1f}", "", "")
    console.print(table)


if __name__ == "__main__":
    main()
