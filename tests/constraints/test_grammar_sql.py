"""The SQL grammar against SQLite: a corpus, random statements, damaged statements, and every word SQLite knows."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle.lark_parser import parser
from oracle.sql_random import Statements, damaged, error, is_syntax
from tokamata.constraints import grammars

import tokamata

CORPUS = json.loads(
    (Path(__file__).resolve().parents[1] / "corpus" / "grammars" / "sql.json").read_text(encoding="utf-8")
)
# What older versions of SQLite do not read yet.
NEWER = re.compile(r"RIGHT JOIN|FULL OUTER JOIN|DISTINCT FROM") if sqlite3.sqlite_version_info < (3, 39) else None
# All words of SQLite's grammar (its page "SQLite Keywords").
KEYWORDS = """
ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE
CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE
EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE
IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH
MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA
PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING
RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION
UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHOUT
""".split()


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.executescript(CORPUS["schema"])
    return made


@pytest.fixture(scope="module")
def accepts() -> Callable[[str], bool]:
    return tokamata.grammar(grammars.text("sql")).accepts


def test_the_corpus(database: sqlite3.Connection, accepts: Callable[[str], bool]) -> None:
    for text in CORPUS["accept"]:
        assert accepts(text), text
        if NEWER is None or not NEWER.search(text):
            assert error(database, text) is None, text
    for text in CORPUS["reject"]:
        assert not accepts(text), text
        if re.match(r"(?i)select|values|with", text):
            assert not is_syntax(database, text), text


def test_random_statements(database: sqlite3.Connection, accepts: Callable[[str], bool]) -> None:
    seed = 21
    source = Statements(seed)
    made = [source.select() for _ in range(350)]
    assert [(text, wrong) for text in made if (wrong := error(database, text)) is not None] == []
    refused = [text for text in made if not accepts(text)]
    assert refused == [], f"seed {seed}"


def test_damaged_statements(database: sqlite3.Connection, accepts: Callable[[str], bool]) -> None:
    seed = 22
    rng = random.Random(seed)
    source = Statements(seed)
    members = CORPUS["accept"] + [source.select(1) for _ in range(100)]
    outcomes = {(a, b): 0 for a in (True, False) for b in (True, False)}
    wrong = []
    for _ in range(1500):
        text = damaged(rng, rng.choice(members), members)
        both = accepts(text), is_syntax(database, text)
        outcomes[both] += 1
        if both == (True, False):
            wrong.append(text)
    assert wrong == [], f"seed {seed}"
    assert outcomes[False, False] > 300
    assert outcomes[True, True] > 100
    # A little of what SQLite reads is left out.
    assert outcomes[False, True] < 0.1 * sum(outcomes.values())


def test_random_members(database: sqlite3.Connection) -> None:
    for text in tokamata.grammar(grammars.text("sql")).examples(12, seed=23):
        assert is_syntax(database, text.decode()), text


def test_lark_agrees(accepts: Callable[[str], bool]) -> None:
    by_lark = parser(grammars.text("sql"), "basic")
    seed = 24
    rng = random.Random(seed)
    source = Statements(seed)
    members = CORPUS["accept"] + [source.select(1) for _ in range(100)]
    for text in members + CORPUS["reject"] + [damaged(rng, rng.choice(members), members) for _ in range(500)]:
        assert accepts(text) == by_lark(text), (seed, text)


def test_words_that_sqlite_reserves_are_no_names(database: sqlite3.Connection, accepts: Callable[[str], bool]) -> None:
    for word in KEYWORDS:
        for text in (
            f"SELECT {word} FROM t1",
            f"SELECT 1 AS {word}",
            f"SELECT 1 {word}",
            f"SELECT 1 FROM t1 {word.lower()}",
        ):
            assert is_syntax(database, text) or not accepts(text), text
    # The long s is no s for SQLite, nor is the Kelvin sign a k or the dotted i an i.
    for text in (
        "\u017felect 1",
        "SELECT 1 A\u017f b",
        "SELECT a LI\u212aE b FROM t1",
        "SELECT 1 \u0130S NULL",
        "SELECT 1 \u0131n (1)",
    ):
        assert not accepts(text), text
        assert not is_syntax(database, text), text
    assert accepts("SELECT 1 AS \u017felect")
    assert is_syntax(database, "SELECT 1 AS \u017felect")
    assert accepts("SELECT replace, plan, key FROM view AS temp")


@pytest.mark.parametrize(
    "condition",
    [
        "b = c", "b == c", "b <> c", "b != c", "b IS c", "b IS NOT c", "b LIKE c", "b NOT LIKE c", "b GLOB c",
        "b IN (c)", "b BETWEEN c AND d", "b ISNULL", "b NOTNULL", "b NOT NULL",
    ],
)  # fmt: skip
def test_lower_bounds_that_are_left_out(
    database: sqlite3.Connection, accepts: Callable[[str], bool], condition: str
) -> None:
    """SQLite reads them, the grammar does in parentheses only, and says so."""
    database.execute("CREATE TEMP TABLE IF NOT EXISTS bounds (a, b, c, d)")
    for lower in (condition, f"({condition})"):
        text = f"SELECT a BETWEEN {lower} AND d FROM bounds"
        assert error(database, text) is None
        assert accepts(text) is (lower != condition)
    operator = condition.split()[-1 if condition.endswith("NULL") else 1]
    named = {"NOT": "LIKE", "NULL": "NOTNULL"}.get(operator, operator)
    assert re.search(rf"lower bound of BETWEEN[^:]*[( ]{named}[,:]", grammars.describe("sql").leaves_out)
