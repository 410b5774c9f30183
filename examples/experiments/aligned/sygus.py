"""SyGuS problems: reading, few-shot prompts, and whether a term solves a problem.

Bit-vector problems are decided by trying all values of the variables, problems of strings by running their examples.
`shortest_solution` enumerates terms by size, to have solutions to show in prompts. Semantics: SMT-LIB's theories of
fixed-size bit vectors and of strings.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

Expression = Union[str, "list[Expression]"]
Value = bool | int | str

# Solutions that show what operations are for; `Problem.a_solution` checks them.
KNOWN_SOLUTIONS = {
    "firstname_small": '(str.substr name 0 (str.indexof name " " 0))',
    "name-combine-2_short": '(str.++ (str.++ firstname " ") (str.++ (str.at lastname 0) "."))',
    "reverse-name-long": '(str.++ lastname (str.++ " " firstname))',
    "univ_1_short": '(str.++ col1 (str.++ "," (str.++ " " col2)))',
}
_EASY = 300  # terms that are tried to find another solution

_TOKEN = re.compile(r'\s+|;[^\n]*|[()]|"(?:[^"]|"")*"|[^\s()";]+')
_MAX_TEXT = 10_000  # characters; str.++ of str.++ doubles


class NoValue(ValueError):
    """A term that is no term, or of another sort than its place."""


def read(text: str) -> list[Expression]:
    """All s-expressions of a text; NoValue for what is none."""
    stack: list[list[Expression]] = [[]]
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or (found[0] == ")" and len(stack) == 1):
            raise NoValue(f"no s-expression at character {at}")
        at = found.end()
        if found[0] == "(":
            stack.append([])
        elif found[0] == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif not found[0][0].isspace() and found[0][0] != ";":
            stack[-1].append(found[0])
    if len(stack) > 1:
        raise NoValue("a parenthesis is not closed")
    return stack[0]


def written(expression: Expression) -> str:
    """An s-expression with single blanks."""
    return expression if isinstance(expression, str) else "(" + " ".join(map(written, expression)) + ")"


@dataclass(frozen=True)
class Problem:
    """A problem: its text, the function to find, its parameters, grammar, definitions and constraints."""

    name: str
    text: str
    function: str
    parameters: tuple[tuple[str, str], ...]  # name, sort
    result: str
    groups: tuple[tuple[str, tuple[Any, ...]], ...]  # of the grammar: non-terminal, terms
    variables: tuple[tuple[str, str], ...]
    definitions: dict[str, tuple[tuple[str, ...], Expression]]
    constraints: tuple[Expression, ...]

    @classmethod
    def load(cls, path: Path) -> Problem:
        """Read a ``.sl`` file."""
        text = path.read_text(encoding="utf-8")
        commands = [c for c in read(text) if isinstance(c, list)]
        (synth,) = [c for c in commands if c[0] == "synth-fun"]
        definitions = {
            written(c[1]): (tuple(written(p[0]) for p in c[2]), c[4]) for c in commands if c[0] == "define-fun"
        }
        return cls(
            name=path.stem,
            text=text,
            function=written(synth[1]),
            parameters=tuple((written(p[0]), written(p[1])) for p in synth[2]),
            result=written(synth[3]),
            groups=tuple((written(g[0]), tuple(g[2])) for g in synth[4]),
            variables=tuple((written(c[1]), written(c[2])) for c in commands if c[0] == "declare-var"),
            definitions=definitions,
            constraints=tuple(c[1] for c in commands if c[0] == "constraint"),
        )

    @property
    def logic(self) -> str:
        """What ``set-logic`` names."""
        return next(written(c[1]) for c in read(self.text) if isinstance(c, list) and c[0] == "set-logic")

    @property
    def family(self) -> str:
        """The name without what tells sizes of one problem apart."""
        return re.sub(r"([-_](small|short|long|repeat))+$", "", self.name)

    def a_solution(self) -> str | None:
        """A term to show in prompts: the known one, or the shortest if it is found easily."""
        if self.name in KNOWN_SOLUTIONS and self.solved_by(KNOWN_SOLUTIONS[self.name]):
            return KNOWN_SOLUTIONS[self.name]
        return shortest_solution(self, _EASY)

    @property
    def head(self) -> str:
        """The beginning of a solution."""
        parameters = " ".join(f"({name} {sort})" for name, sort in self.parameters)
        return f"(define-fun {self.function} ({parameters}) {self.result}"

    @property
    def question(self) -> str:
        """The problem without its grammar, and with at most ten examples."""
        lines = []
        constraints = 0
        for command in read(self.text):
            assert isinstance(command, list)
            if command[0] == "constraint":
                constraints += 1
                if constraints > 10:
                    continue
            lines.append(written(command[:4] if command[0] == "synth-fun" else command))
        return "\n".join(lines)

    def prompt(self, shown: list[tuple[Problem, str]]) -> str:
        """A few-shot prompt: other problems with solutions, then this one up to where its term begins."""
        parts = [
            "You solve syntax-guided synthesis (SyGuS) problems. Write the function that satisfies all constraints.\n"
        ]
        parts += [f"Question:\n{p.question}\nSolution:\n{p.head} {term})\n" for p, term in shown]
        parts.append(f"Question:\n{self.question}\nSolution:\n{self.head}")
        return "\n".join(parts)

    def environments(self) -> Iterator[dict[str, Value]]:
        """All values of the variables of a bit-vector problem; one empty environment where there are none to try."""
        if not all(sort.startswith("(BitVec") for _, sort in self.variables):
            yield {}
            return
        values = [range(1 << int(sort.split()[1].rstrip(")"))) for _, sort in self.variables]
        for chosen in itertools.product(*values):
            yield dict(zip((name for name, _ in self.variables), chosen, strict=True))

    def solved_by(self, term: str) -> bool:
        """Whether a term satisfies every constraint; False for what is no term."""
        try:
            (body,) = read(term)
            definitions = {**self.definitions, self.function: (tuple(n for n, _ in self.parameters), body)}
            return all(
                evaluate(c, env, definitions, width=4) is True for env in self.environments() for c in self.constraints
            )
        except (NoValue, RecursionError):
            return False


def evaluate(
    term: Expression,
    env: dict[str, Value],
    definitions: dict[str, tuple[tuple[str, ...], Expression]],
    width: int,
) -> Value:
    """The value of a term; bit vectors of ``width`` bits are numbers, False and True are Booleans."""
    if isinstance(term, str):
        return _atom(term, env, definitions, width)
    if not term or not isinstance(term[0], str):
        raise NoValue(f"no term: {written(term)[:40]}")
    name, arguments = term[0], term[1:]
    if name == "ite" and len(arguments) == 3:
        chosen = arguments[1] if evaluate(arguments[0], env, definitions, width) is True else arguments[2]
        return evaluate(chosen, env, definitions, width)
    values = [evaluate(a, env, definitions, width) for a in arguments]
    if name in definitions:
        names, body = definitions[name]
        if len(names) != len(values):
            raise NoValue(f"{name} takes {len(names)} arguments")
        return evaluate(body, dict(zip(names, values, strict=True)), definitions, width)
    operation = BIT_VECTORS.get(name) or STRINGS.get(name) or CORE.get(name)
    if operation is None:
        raise NoValue(f"unknown operation {name}")
    try:
        value = operation(*values, width) if name in BIT_VECTORS else operation(*values)
    except (TypeError, AttributeError) as error:
        raise NoValue(f"{name}: {error}") from error
    if isinstance(value, str) and len(value) > _MAX_TEXT:
        raise NoValue("the text is too long")
    return value


def _atom(
    term: str, env: dict[str, Value], definitions: dict[str, tuple[tuple[str, ...], Expression]], width: int
) -> Value:
    if term in env:
        return env[term]
    if term in definitions and not definitions[term][0]:
        return evaluate(definitions[term][1], {}, definitions, width)
    if term.startswith('"'):
        return term[1:-1].replace('""', '"')
    if term in ("true", "false"):
        return term == "true"
    for prefix, base in (("#x", 16), ("#b", 2), ("", 10)):
        if term.startswith(prefix):
            try:
                return int(term[len(prefix) :], base)
            except ValueError:
                break
    raise NoValue(f"unknown name {term}")


def _signed(a: int, width: int) -> int:
    return a - (1 << width) if a >> (width - 1) else a


def _bits(operation: Callable[..., Any]) -> Callable[..., Value]:
    """An operation whose last argument is the width; numbers are taken modulo 2^width."""

    def applied(*values: Any) -> Value:
        *numbers, width = values
        if any(not isinstance(v, int) or isinstance(v, bool) for v in numbers):
            raise TypeError("expected bit vectors")
        result = operation(*numbers, width)
        return result if isinstance(result, bool) else result % (1 << width)

    return applied


BIT_VECTORS: dict[str, Callable[..., Value]] = {
    name: _bits(operation)
    for name, operation in {
        "bvneg": lambda a, w: -a,
        "bvnot": lambda a, w: ~a,
        "bvadd": lambda a, b, w: a + b,
        "bvsub": lambda a, b, w: a - b,
        "bvmul": lambda a, b, w: a * b,
        "bvand": lambda a, b, w: a & b,
        "bvor": lambda a, b, w: a | b,
        "bvxor": lambda a, b, w: a ^ b,
        "bvshl": lambda a, b, w: a << b if b < w else 0,
        "bvlshr": lambda a, b, w: a >> b if b < w else 0,
        "bvashr": lambda a, b, w: _signed(a, w) >> min(b, w),
        "bvudiv": lambda a, b, w: a // b if b else -1,
        "bvurem": lambda a, b, w: a % b if b else a,
        "bvult": lambda a, b, w: a < b,
        "bvule": lambda a, b, w: a <= b,
        "bvugt": lambda a, b, w: a > b,
        "bvuge": lambda a, b, w: a >= b,
        "bvslt": lambda a, b, w: _signed(a, w) < _signed(b, w),
        "bvsle": lambda a, b, w: _signed(a, w) <= _signed(b, w),
        "bvsgt": lambda a, b, w: _signed(a, w) > _signed(b, w),
        "bvsge": lambda a, b, w: _signed(a, w) >= _signed(b, w),
    }.items()
}


def _indexof(text: str, part: str, start: int) -> int:
    return text.find(part, start) if 0 <= start <= len(text) else -1


STRINGS: dict[str, Callable[..., Value]] = {
    "str.++": lambda *texts: "".join(texts),
    "str.replace": lambda text, old, new: text.replace(old, new, 1) if old else new + text,
    "str.at": lambda text, i: text[i] if 0 <= i < len(text) else "",
    "str.substr": lambda text, i, n: text[i : i + n] if 0 <= i < len(text) and n > 0 else "",
    "str.len": lambda text: len(text + ""),
    "str.indexof": _indexof,
    "str.prefixof": lambda part, text: text.startswith(part),
    "str.suffixof": lambda part, text: text.endswith(part),
    "str.contains": lambda text, part: part in text,
    "str.to.int": lambda text: int(text) if text.isascii() and text.isdigit() else -1,
    "int.to.str": lambda number: str(number) if number >= 0 else "",
    "+": lambda a, b: a + b if isinstance(a, int) and isinstance(b, int) else _wrong(),
    "-": lambda a, b=None: -a if b is None else a - b,
}
STRINGS["str.to_int"], STRINGS["str.from_int"] = STRINGS["str.to.int"], STRINGS["int.to.str"]

CORE: dict[str, Callable[..., Value]] = {
    "=": lambda a, b: type(a) is type(b) and a == b,
    "distinct": lambda a, b: a != b,
    "not": lambda a: not a,
    "and": lambda *values: all(v is True for v in values),
    "or": lambda *values: any(v is True for v in values),
    "=>": lambda a, b: a is not True or b is True,
}


def _wrong() -> Value:
    raise TypeError("expected numbers")


def shortest_solution(problem: Problem, max_terms: int = 20_000) -> str | None:
    """A smallest term of the grammar that solves a problem, terms of equal behaviour tried once; None past a limit.

    Behaviour: the values at all environments, or at the arguments of the examples.
    """
    points = list(_points(problem))
    known: dict[str, dict[int, list[tuple[str, Any]]]] = {name: {} for name, _ in problem.groups}
    seen: dict[str, set[Any]] = {name: set() for name in known}
    start = "Start" if "Start" in known else problem.groups[0][0]
    made = 0
    for size in range(1, 12):
        for _ in range(2):  # a group may be another group's term of the same size
            for name, terms in problem.groups:
                bank = known[name].setdefault(size, [])
                for term in terms:
                    for text, values in _built(term, size, known, points):
                        if values in seen[name]:
                            continue
                        seen[name].add(values)
                        bank.append((text, values))
                        made += 1
                        if name == start and problem.solved_by(text):
                            return text
                        if made > max_terms:
                            return None
    return None


def _points(problem: Problem) -> Iterator[dict[str, Value]]:
    names = [name for name, _ in problem.parameters]
    if any(sort == "String" for _, sort in problem.parameters):
        for constraint in problem.constraints:
            call = constraint[1]
            yield dict(zip(names, [evaluate(a, {}, {}, 4) for a in call[1:]], strict=True))
    else:
        yield from ({**env} for env in problem.environments())


def _built(
    term: Expression, size: int, known: dict[str, dict[int, list[tuple[str, Any]]]], points: list[dict[str, Value]]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Terms of a size by one production, with their values at the points."""
    if isinstance(term, str):
        if term in known:
            yield from list(known[term].get(size, []))
        elif size == 1:
            yield term, tuple(evaluate(term, point, {}, 4) for point in points)
        return
    name, places = term[0], [p for p in term[1:] if isinstance(p, str)]
    if not all(p in known for p in places) or len(places) != len(term) - 1:
        return
    for sizes in _splits(size - 1, len(places)):
        for chosen in itertools.product(*(known[p].get(s, []) for p, s in zip(places, sizes, strict=True))):
            values = []
            for at, _ in enumerate(points):
                call = [str(name), *(f"x{i}" for i in range(len(chosen)))]
                env = {f"x{i}": c[1][at] for i, c in enumerate(chosen)}
                values.append(evaluate(call, env, {}, 4))  # type: ignore[arg-type]
            yield f"({name} {' '.join(text for text, _ in chosen)})", tuple(values)


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as so many positive numbers."""
    if parts == 1:
        if total > 0:
            yield (total,)
        return
    for first in range(1, total - parts + 2):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)
