"""Writes ecma.json: patterns, and the texts that Node's RegExp (flag u, whole text) accepts and rejects.

    python generate_ecma.py FOLDER    # FOLDER: JSON Schema test files of guidance-ai/jsonschemabench (MaskBench)

Texts come from the language that tokamata reads the pattern as, from edits of them, and at random; Node alone decides
what is expected. Run it again only to widen the corpus: the tests read ecma.json.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tokamata import ConstraintError, regex

HERE = Path(__file__).resolve().parent
MOST, LONGEST_PATTERN, LONGEST_TEXT = 400, 160, 40
JUDGE = """
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
const out = cases.map(({pattern, texts}) => {
  let r;
  try { new RegExp(pattern, "u"); r = new RegExp("^(?:" + pattern + ")$", "u"); } catch (e) { return null; }
  return texts.map(t => r.test(t));
});
console.log(JSON.stringify(out));
"""
WRITTEN = r"""
^(?=.*\d)(?=.*[a-z])[a-z0-9]{2,5}$
^(?!.*--)[a-z-]+$
(?<=a)b|ab
(?<![0-9])\d(?!\d)
a(?!b)[a-c]
\bfoo\b.*
(?:\b\w+\b ?)+
\B.\B|x
[\b]\cJ\t\v\f\0
\u0041\u{1F600}\uD83D\uDE00
[\u{1F600}-\u{1F64F}]+
[\uD83D\uDE00]
\p{Lu}\P{Lu}
\p{Script=Greek}+
\p{sc=Cyrillic}\p{scx=Deva}?
\p{Letter}\p{General_Category=Decimal_Number}
[\p{L}\p{N}_-]+
[^\p{L}]
\p{Alphabetic}+\p{White_Space}
\p{ASCII}\p{Any}\p{Assigned}
\p{lu}
\p{Script=greek}
\p{L
\pL
\s\S\d\D\w\W
.[^]
[]
a[]|b
[^a-z]
[a-\d]
[\w-a]
[a-]
[-a]
[\-a]
[z-a]
\-
\_
\a
\.\/\^\$\*\+\?\(\)\[\]\{\}\|\\
a{2}b{1,}c{0,2}?
a{,2}
a{
{
}
]
a{3,2}
a**
(?=a)*
(?=a)a
(?:a
a)
(?<year>\d{4})
(?<a>x)(?<a>y)
(?<1>x)
(?<$_é>x)
(a)\1
\1(a)
\1
\k<n>
(?<n>a)\k<n>
(?i:a)
(?P<n>a)
\x4
\xe9
\u12
\u{110000}
\u{000041}
\c
\c1
\08
\012
^a$|^b$
^$
(^a|b$)+
a^b
$a
x*$
"""


def patterns_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        properties = value.get("patternProperties")
        if isinstance(properties, dict):
            yield from properties
        for v in value.values():
            yield from patterns_of(v)
    elif isinstance(value, list):
        for v in value:
            yield from patterns_of(v)


def texts_for(pattern: str, rng: random.Random) -> list[str]:
    letters = "aZ09_-. /:é\n\u2028日😀" + "".join(c for c in pattern if c.isalnum())
    texts = {"", "a", "\n", *("".join(rng.choice(letters) for _ in range(n)) for n in (2, 4))}
    try:
        constraint = regex(pattern, syntax="ecma")
    except ConstraintError:
        return sorted(texts)
    for member in constraint.examples(4, seed=rng.randrange(1 << 30)):
        text = member.decode()
        if len(text) > LONGEST_TEXT:
            continue
        texts |= {text, text + "\n"}
        if text:
            at = rng.randrange(len(text))
            texts |= {text[:at] + text[at + 1 :], text[:at] + rng.choice(letters) + text[at + 1 :], text[:-1]}
    return sorted(texts)


def main(folder: Path) -> None:
    sources: dict[str, str] = dict.fromkeys(WRITTEN.strip().split("\n"), "written")
    for path in sorted(folder.glob("*.json")):
        for pattern in patterns_of(json.loads(path.read_text("utf-8"))["schema"]):
            if len(pattern) <= LONGEST_PATTERN and len(sources) < MOST:
                sources.setdefault(pattern, path.stem)
    rng = random.Random(1)
    cases = [{"pattern": p, "texts": texts_for(p, rng)} for p in sources]
    found = subprocess.run(["node", "-e", JUDGE], input=json.dumps(cases), capture_output=True, text=True, check=True)
    rows = []
    for case, verdicts in zip(cases, json.loads(found.stdout), strict=True):
        row = {"pattern": case["pattern"], "source": sources[case["pattern"]], "valid": verdicts is not None}
        if verdicts is not None:
            row["accepted"] = [t for t, v in zip(case["texts"], verdicts, strict=True) if v]
            row["rejected"] = [t for t, v in zip(case["texts"], verdicts, strict=True) if not v]
        rows.append(row)
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = ",\n".join(json.dumps(r) for r in rows)
    (HERE / "ecma.json").write_text(f'{{"judge": "Node {node}, flag u", "cases": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
