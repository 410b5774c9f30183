"""Random schemas: does PyYAML read what yaml_schema allows, and does yaml_schema allow what PyYAML writes?

python tests/oracle/yaml_schema_random.py [--count 500] [--seed 0] [--draft 2020-12]
"""

from __future__ import annotations

import argparse
import json
import math
import random
import string
from collections import Counter
from typing import Any

import yaml
from oracle.json_schema_random import DRAFTS, RandomSchema, random_instance

import tokamata

TEXTS = [
    "yes", "No", "on", "~", "null", "Null", "true", "1", "010", "0x1F", "0b1", "1_000", "1:30", "1.5", "1e5", ".5",
    "-.inf", ".nan", "2026-01-02", "2026-1-2 10:00:00", "=", "<<", "-", "- a", "-a", "?", "? a", ":", "a:", "a: b",
    "a:b", "a #b", "a#b", "#a", " a", "a ", "a  b", "it's", 'say "a"', "back\\slash", "[a]", "{a}", "a, b", "&a",
    "*a", "!a", "%a", "@a", "`a", "|", ">", "---", "...", "--- a", "a\tb", "tab\t", "\u0001", "\x7f", "\x85",
    "\u2028", "\ufeff", "\ufffe", "\xa0", "\u00e9t\u00e9", "\U0001f600", "", "a\nb", "\n", "y", "n", "0o17",
    "12:30:45.5", "+1", "-1", "1.", "1_0.5", "key: [1, 2]", "'", "''", '"', "a'", "0.", "-", "--", "-1:2", "1e+5",
    "1.e+5", "100_", "08", "0x", "0b", "2026-01",
]  # fmt: skip
_ALPHABET = "ab01 :-#'\"\\\t,.?!&*[]{}|>%@`~=<_+eExynot\u00e9\u00a0\u2028\U0001f600"


def plain_integers(value: Any) -> Any:
    """The value with 2.0 as 2: what JSON Schema calls an integer is written as one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [plain_integers(part) for part in value]
    return {key: plain_integers(part) for key, part in value.items()} if isinstance(value, dict) else value


def random_text(rng: random.Random) -> str:
    """A text that is likely to mean something to YAML."""
    if rng.random() < 0.5:
        return rng.choice(TEXTS)
    return "".join(rng.choices(_ALPHABET + string.digits, k=rng.randrange(6)))


def random_value(rng: random.Random, depth: int) -> Any:
    """A value with such texts as strings and keys."""
    kind = rng.randrange(8 if depth else 5)
    if kind >= 5:
        size = rng.randrange(4)
        if kind == 5:
            return [random_value(rng, depth - 1) for _ in range(size)]
        return {random_text(rng): random_value(rng, depth - 1) for _ in range(size)}
    scalars = [None, True, False, 0, -7, 12345678901234567890, 1.5, -0.25, 1e20, 1.5e-7, 1e100, 2.5e300, 123456.789]
    return random_text(rng) if kind > 1 else rng.choice(scalars)


def dumped(value: Any, **options: Any) -> str:
    """What PyYAML writes in block style, each scalar in one line."""
    return yaml.safe_dump(value, default_flow_style=False, sort_keys=False, width=math.inf, **options)


class DuplicateKey(Exception):
    """A mapping with a key that comes twice."""


class StrictLoader(yaml.SafeLoader):
    """The safe loader, but keys that come twice raise DuplicateKey."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node."""
        mapping = super().construct_mapping(node, deep=True)
        if len(mapping) < len(node.value):
            raise DuplicateKey
        return mapping


def beyond_floats(value: Any) -> bool:
    """Whether a number is one that the validator's floats get wrong: schemas speak of decimal numbers."""
    if isinstance(value, dict):
        return any(map(beyond_floats, value.values()))
    if isinstance(value, list):
        return any(map(beyond_floats, value))
    return isinstance(value, float) and not 1e-15 < abs(value) < 1e15


def judge(draft: str, seed: str) -> tuple[Counter[str], list[str]]:
    """Counts, and descriptions of what is wrong, for the schema of a seed."""
    rng = random.Random(f"yaml {draft} {seed}")
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    schema = RandomSchema(rng, draft).root()
    validator = DRAFTS[draft][1](schema)
    options = {"sequences": rng.choice(["any", "indented", "flush"]), "max_depth": rng.choice([0, 1, 2, 16])}
    about = f"draft {draft}, seed {seed}, {options}: {json.dumps(schema)}"
    values = [plain_integers(random_instance(rng, schema)) for _ in range(8)]
    try:
        constraint = tokamata.yaml_schema(schema, key_order="any", formats=False, **options)  # type: ignore[arg-type]
        texts = constraint.examples(6, seed=rng.randrange(2**32))
        answers = [constraint.accepts(dumped(value)) for value in values]
    except tokamata.UnsupportedError:
        return Counter(refused=1), []
    except tokamata.LimitError:
        return Counter(limits=1), []
    except tokamata.ConstraintError as error:
        if "contradicts itself" not in str(error):
            return Counter(), [f"{about}: {error}"]
        return Counter(), [f"{about}: {value} is valid" for value in values if validator.is_valid(value)]
    for text in texts:
        counts["samples"] += 1
        try:
            value = yaml.load(text.decode(), StrictLoader)
            if not beyond_floats(value) and not validator.is_valid(value):
                wrong.append(f"{about}: {text!r} is allowed, the value {value!r} is not valid")
        except DuplicateKey:
            wrong.append(f"{about}: {text!r} is allowed, and has a key twice")
        except yaml.YAMLError as error:
            wrong.append(f"{about}: {text!r} is allowed, and is not YAML: {error}")
    if options["max_depth"] == 16 and options["sequences"] != "indented":
        for value, answer in zip(values, answers, strict=True):
            valid = validator.is_valid(value)
            counts["valid" if valid else "invalid"] += 1
            if answer != valid:
                wrong.append(f"{about}: {value!r} is {'rejected' if valid else 'allowed'}")
    return counts, wrong


def run(draft: str, seeds: range) -> tuple[Counter[str], list[str]]:
    """Judge the schemas of some seeds."""
    total: Counter[str] = Counter()
    wrongs: list[str] = []
    for seed in seeds:
        counts, wrong = judge(draft, str(seed))
        total.update(counts)
        wrongs += wrong
    return total, wrongs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="the first of so many seeds in a row")
    parser.add_argument("--draft", action="append", choices=DRAFTS)
    arguments = parser.parse_args()
    for draft in arguments.draft or ["2020-12", "7"]:
        counts, wrong = run(draft, range(arguments.seed, arguments.seed + arguments.count))
        print(f"draft {draft}: {dict(counts)}, wrong {len(wrong)}")
        for line in wrong[:10]:
            print("   ", line[:1500])


if __name__ == "__main__":
    main()
