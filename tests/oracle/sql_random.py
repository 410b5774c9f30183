"""Random SELECT statements that SQLite prepares against a schema, and what SQLite says of any statement."""

from __future__ import annotations

import random
import re
import sqlite3

TABLES = {
    "t1": ["a", "b", "c", "d", "e"],
    "t2": ["a", "b", "f"],
    "customers": ["id", "name", "city", "since"],
    "orders": ["id", "customer", "total", "placed", "data"],
    "tree": ["id", "parent", "label"],
}
# What SQLite calls a statement that its grammar refuses; other errors are of names, numbers of columns, aggregates.
SYNTAX = (
    "syntax error",
    "unrecognized token",
    "incomplete input",
    "clause should come",
    "unknown join type",
    "unsupported frame",
    "JOIN clause is required",
    "one statement at a time",
    "variable number must be",
    "may not have an ON or USING clause",
    "clause is required before HAVING",
)


def error(database: sqlite3.Connection, statement: str) -> str | None:
    """Prepare a statement; return SQLite's error, or None. A missing parameter is no error."""
    try:
        database.execute("EXPLAIN " + statement)
    except (sqlite3.Error, sqlite3.Warning) as raised:
        text = str(raised)
        return None if "binding" in text or "did not supply" in text else text
    return None


def is_syntax(database: sqlite3.Connection, statement: str) -> bool:
    """Does SQLite's grammar take the statement, whatever it thinks of the names in it?"""
    found = error(database, statement)
    return found is None or not any(part in found for part in SYNTAX)


def damaged(rng: random.Random, statement: str, others: list[str]) -> str:
    """Return a statement with one to three words or signs dropped, doubled, swapped or replaced."""
    tokens = re.findall(r"\s+|\w+|'[^']*'|\"[^\"]*\"|.", statement)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(tokens))
        change = rng.randrange(4)
        if change == 0:
            del tokens[at]
        elif change == 1:
            tokens.insert(at, tokens[at])
        elif change == 2:
            to = rng.randrange(len(tokens))
            tokens[at], tokens[to] = tokens[to], tokens[at]
        else:
            tokens[at] = rng.choice(re.findall(r"\w+|'[^']*'|[^\s\w]", rng.choice(others)) or [" "])
        tokens = tokens or [" "]
    return "".join(tokens)


class Statements:
    """A source of statements: each call of `select` makes one."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def _pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def _word(self, word: str) -> str:
        return word if self.rng.random() < 0.9 else word.lower()

    def expression(self, columns: list[str], deep: int) -> str:
        """Return an expression over the columns that is no aggregate."""
        r, sub = self.rng.random(), lambda: self.expression(columns, deep - 1)
        if deep <= 0 or r < 0.15:
            number = str(self.rng.randrange(1000))
            return self._pick(self.rng.choice(columns), number, f"'{number}'", "NULL", number + ".5", "x'0f'", "1e3")
        if r < 0.45:
            return f"{sub()}{self._pick(' + ', '-', ' * ', ' / ', '%', ' || ', ' << ', '&', ' | ')}{sub()}"
        if r < 0.5:
            return f"{self._pick('-', '+', '~')}{self.rng.choice(columns)}"
        if r < 0.58:
            return f"({sub()})"
        if r < 0.68:
            name = self._pick("coalesce", "max", "min", "ifnull", "nullif", "instr")
            return f"{name}({sub()}, {sub()})"
        if r < 0.76:
            return f"{self._pick('abs', 'lower', 'typeof', 'length', 'quote')}({sub()})"
        if r < 0.82:
            return f"CAST({sub()} AS {self._pick('TEXT', 'INTEGER', 'REAL', 'VARCHAR(20)')})"
        if r < 0.9:
            otherwise = f" ELSE {sub()}" if self.rng.random() < 0.5 else ""
            return f"{self._word('CASE')} WHEN {self.condition(columns, deep - 1)} THEN {sub()}{otherwise} END"
        if r < 0.95:
            table = self._pick(*TABLES)
            return f"(SELECT {self._pick('max', 'count', 'min')}({self._pick(*TABLES[table])}) FROM {table})"
        return f"{self.rng.choice(columns)} COLLATE {self._pick('NOCASE', 'BINARY', 'RTRIM')}"

    def condition(self, columns: list[str], deep: int) -> str:
        """Return a condition over the columns."""
        r, sub = self.rng.random(), lambda: self.expression(columns, deep - 1)
        if deep > 0 and r < 0.3:
            return f"{self.condition(columns, deep - 1)} {self._pick('AND', 'OR', 'and')} {sub()} > 0"
        if r < 0.55:
            return f"{sub()} {self._pick('=', '<>', '!=', '<', '<=', '>', '>=', '==', 'IS', 'IS NOT')} {sub()}"
        if r < 0.65:
            return f"{sub()} {self._pick('', 'NOT ')}BETWEEN {sub()} AND {sub()}"
        if r < 0.75:
            return f"{sub()} {self._pick('', 'NOT ')}IN ({sub()}, {sub()})"
        if r < 0.8:
            table = self._pick(*TABLES)
            return f"{sub()} IN (SELECT {self._pick(*TABLES[table])} FROM {table})"
        if r < 0.87:
            return f"{sub()} {self._pick('LIKE', 'NOT LIKE', 'GLOB')} '{self._pick('a%', '%b_', 'its', '[a-c]*')}'"
        if r < 0.93:
            return f"{sub()} {self._pick('IS NULL', 'IS NOT NULL', 'NOTNULL', 'ISNULL', 'NOT NULL')}"
        return f"NOT {self._pick('', 'EXISTS ')}(SELECT 1 FROM {self._pick(*TABLES)})"

    def _from(self) -> tuple[str, list[str]]:
        names = self.rng.sample(list(TABLES), self.rng.choice((1, 1, 1, 2, 2, 3)))
        text, columns = "", []
        for i, table in enumerate(names):
            alias = f"{table[0]}{i}"
            columns += [f"{alias}.{column}" for column in TABLES[table]]
            named = f"{table}{self._pick(' AS', '')} {alias}"
            if self.rng.random() < 0.1:
                named = f"(SELECT * FROM {table} WHERE {self.condition(TABLES[table], 1)}) AS {alias}"
            if i == 0:
                text = named
            elif self.rng.random() < 0.3:
                text += f", {named}"
            else:
                joined = self._pick("JOIN", "LEFT JOIN", "INNER JOIN", "CROSS JOIN", "LEFT OUTER JOIN")
                text += f"{self._pick(' ', chr(10))}{joined} {named}"
                text += f" ON {self.condition(columns, 1)}"
        return text, columns

    def select(self, deep: int = 2) -> str:
        """Return a whole statement."""
        rng = self.rng
        source, columns = self._from()
        grouped = rng.random() < 0.25
        key = rng.choice(columns)
        if grouped:
            results = [key, f"{self._pick('sum', 'avg', 'max', 'count')}({rng.choice(columns)}) AS n", "count(*)"]
        else:
            results = [self.expression(columns, deep) for _ in range(rng.randrange(1, 5))]
            results = [f"{r} AS r{i}" if rng.random() < 0.3 else r for i, r in enumerate(results)]
            if rng.random() < 0.15:
                window = f"PARTITION BY {rng.choice(columns)} ORDER BY {rng.choice(columns)}"
                frame = self._pick("", "", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING")
                results.append(f"sum({rng.choice(columns)}) OVER ({window}{frame})")
        distinct = " DISTINCT" if rng.random() < 0.1 else ""
        line = self._pick(" ", "\n")
        text = f"{self._word('SELECT')}{distinct} {', '.join(results)}{line}FROM {source}"
        if rng.random() < 0.7:
            text += f"{line}{self._word('WHERE')} {self.condition(columns, deep)}"
        if grouped:
            text += f"{line}GROUP BY {key}"
            if rng.random() < 0.5:
                text += f" HAVING count(*) > {rng.randrange(5)}"
        if rng.random() < 0.15:
            text += f"{line}{self._pick('UNION', 'UNION ALL', 'EXCEPT')} SELECT {', '.join(['1'] * len(results))}"
        if rng.random() < 0.4:
            text += f"{line}ORDER BY 1{self._pick('', ' DESC', ' ASC')}"
        if rng.random() < 0.4:
            text += f"{line}LIMIT {rng.randrange(100)}{self._pick('', ' OFFSET 3')}"
        if rng.random() < 0.1:
            text = f"WITH w(x) AS (SELECT {rng.randrange(9)} UNION SELECT 2){line}" + text
        return text + self._pick("", "", ";")
