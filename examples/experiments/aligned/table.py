"""A table of SyGuS problems: how often samples of masking, ASAp and CARS solve them. Resumable.

    python examples/experiments/aligned/table.py FOLDER --out results.jsonl      # FOLDER holds .sl files
    MODEL=folder python examples/experiments/aligned/table.py FOLDER             # another transformers model
    python examples/experiments/aligned/table.py FOLDER --show                   # the table of what is there

Each problem is posed after three others of the same kind that are shown with their shortest solutions; the language is
the terms of the problem's grammar. What was done is in the file, a line for each problem and sampler; run again, and
it goes on with the rest. With Gemma 3 270M on two cores 200 samples of one problem take some 5 to 30 minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import sygus
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tokamata.constraints.grammars import sygus_terms
from tokamata.decode.sampling import CARS, ASAp, Masked, TransformersModel

import tokamata

SAMPLERS: dict[str, tuple[type, dict[str, Any]]] = {
    "masked": (Masked, {}),
    "asap": (ASAp, {"batch": 4}),
    "asap-state": (ASAp, {"batch": 4, "leaf": "state"}),
    "cars": (CARS, {"batch": 4, "max_tries": 2000}),
}


def constraint(problem: sygus.Problem) -> tokamata.Constraint:
    """What may follow the prompt: a blank, a term of the problem's grammar, and the parenthesis that closes it."""
    terms = tokamata.grammar(sygus_terms(problem.text), lexer="none")
    return tokamata.literal(" ") + terms + tokamata.literal(")")


def the_model(console: Console) -> tuple[Any, Any, tokamata.Vocabulary]:
    """Model, tokenizer and vocabulary: Gemma 3 270M, converted once, or $MODEL."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from model import load, model_folder

    loaded: tuple[Any, Any, tokamata.Vocabulary] = load(model_folder(console=console))
    return loaded


def term_of(text: str) -> str:
    """The term in a sample."""
    return text.strip()[:-1]


def shown_before(
    problem: sygus.Problem, others: list[sygus.Problem], count: int = 3
) -> list[tuple[sygus.Problem, str]]:
    """Other problems of the same logic with shortest solutions, the easiest to find first."""
    shown = []
    for other in others:
        if other.name != problem.name and other.text.split("\n", 1)[0] == problem.text.split("\n", 1)[0]:
            term = sygus.shortest_solution(other, 300)
            if term is not None:
                shown.append((other, term))
            if len(shown) == count:
                break
    return shown


def stop_tokens(vocabulary: tokamata.Vocabulary) -> list[int]:
    """EOS and every token that begins with a newline: what follows a solution in the prompt."""
    newlines = [i for i in range(len(vocabulary)) if (vocabulary.token_bytes(i) or b"").startswith(b"\n")]
    return [*vocabulary.eos_token_ids, *newlines]


def run(
    problem: sygus.Problem, kind: str, lm: Any, automaton: Any, stop: list[int], chosen: Any, tell: Any
) -> dict[str, Any]:
    """Draw samples of one problem by one sampler."""
    sampler, options = SAMPLERS[kind]
    begin = time.time()
    one = sampler(lm, automaton, stop=stop, max_tokens=chosen.max_tokens, seed=chosen.seed, **options)
    problem_error, samples = "", []
    try:
        samples = one.sample(chosen.samples, progress=tell)
    except tokamata.LimitError as error:
        problem_error = str(error)
    statistics = one.statistics
    verdicts = {s.text: problem.solved_by(term_of(s.text)) for s in samples}
    return {
        "problem": problem.name,
        "sampler": kind,
        "samples": [[s.text, s.log_p_model, s.log_weight] for s in samples],
        "correct": sum(verdicts[s.text] for s in samples),
        "distinct": len(verdicts),
        "log_z": statistics.log_z,
        "log_z_bounds": [statistics.log_z_lower, statistics.log_z_upper],
        "model_calls": statistics.model_calls,
        "tries": statistics.tries,
        "seconds": time.time() - begin,
        "error": problem_error,
    }


def show(path: Path, console: Console) -> None:
    """The table of a results file."""
    done = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    table = Table(
        "problem", "sampler", "samples", "correct %", "distinct", "mean log p", "log Z", "calls", "s", title=str(path)
    )
    for row in sorted(done, key=lambda r: (r["problem"], list(SAMPLERS).index(r["sampler"]))):
        n = len(row["samples"])
        mean = math.fsum(s[1] for s in row["samples"]) / n if n else math.nan
        table.add_row(
            row["problem"],
            row["sampler"],
            str(n) + (" (limit)" if row["error"] else ""),
            f"{100 * row['correct'] / n:.1f}" if n else "-",
            str(row["distinct"]),
            f"{mean:.2f}",
            f"{row['log_z']:.2f}",
            str(row["model_calls"]),
            f"{row['seconds']:.0f}",
        )
    console.print(table)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder of .sl files of one kind")
    parser.add_argument("--out", type=Path, default=Path("sygus.jsonl"))
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--samplers", default="masked,asap,asap-state,cars")
    parser.add_argument("--show", action="store_true", help="only show the table")
    chosen = parser.parse_args(arguments)
    console = Console()
    if chosen.show:
        show(chosen.out, console)
        return
    problems = [sygus.Problem.load(path) for path in sorted(chosen.folder.glob("*.sl"))]
    lines = chosen.out.read_text(encoding="utf-8").splitlines() if chosen.out.exists() else []
    done = {(r["problem"], r["sampler"]) for r in map(json.loads, lines)}
    todo = [p for p in problems if chosen.only in p.name]
    kinds = chosen.samplers.split(",")
    if all((p.name, k) in done for p in todo for k in kinds):
        show(chosen.out, console)
        return

    model, tokenizer, vocabulary = the_model(console)
    stop = stop_tokens(vocabulary)
    with Progress(console=Console(stderr=True)) as progress:
        whole = progress.add_task("problems", total=len(todo) * len(kinds))
        for problem in todo:
            missing = [k for k in kinds if (problem.name, k) not in done]
            progress.advance(whole, len(kinds) - len(missing))
            if not missing:
                continue
            lm = TransformersModel(model, problem.prompt(shown_before(problem, problems)), tokenizer)
            automaton = tokamata.compile(constraint(problem), vocabulary)
            for kind in missing:
                task = progress.add_task(f"{problem.name}, {kind}", total=chosen.samples)
                row = run(
                    problem,
                    kind,
                    lm,
                    automaton,
                    stop,
                    chosen,
                    lambda n, _, task=task: progress.update(task, completed=n),
                )
                with chosen.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                progress.remove_task(task)
                progress.advance(whole)
    show(chosen.out, console)


if __name__ == "__main__":
    main()
