"""MaskBench's schemas and instances against json_schema: is every instance judged as the benchmark says?

    python tests/oracle/maskbench.py [--data ARCHIVE_OR_FOLDER] [--only REGEX] [--keyword uniqueItems] [--sample 200]
                                     [--out results.jsonl [--again]] [--jobs 2]

The data is maskbench-dev.tar.xz, or a folder of its files, in the folder $TOKAMATA_DATA or where --data says. A run
with --out resumes: files that are in it are not judged again; with --again only those whose outcome was ok are not.
Times and memory are limited per file: 10 s of processor time, 1 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tarfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from oracle.isolated import Failure, Isolated, serve
from oracle.schema_verdicts import Verdict, judge, table

ARCHIVE = "maskbench-dev.tar.xz"


def find(given: str | None = None) -> Path | None:
    """Where the files are, if they are anywhere."""
    if given:
        return Path(given)
    folder = os.environ.get("TOKAMATA_DATA")
    return Path(folder) / ARCHIVE if folder and (Path(folder) / ARCHIVE).exists() else None


def read(data: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of the files."""
    if data.is_dir():
        for path in sorted(data.rglob("*.json")):
            yield path.stem, path.read_text("utf-8")
        return
    with tarfile.open(data) as archive:
        for member in archive:
            stored = archive.extractfile(member) if member.name.endswith(".json") else None
            if stored is not None:
                yield Path(member.name).stem, stored.read().decode()


def run(files: list[tuple[str, str]], *, jobs: int = 1, out: Path | None = None, seconds: float = 10.0,
        megabytes: float = 1000.0) -> list[Verdict]:  # fmt: skip
    """Judge the files in child processes; verdicts are appended to ``out`` as they come."""
    children: SimpleQueue[Isolated] = SimpleQueue()
    for _ in range(jobs):
        children.put(Isolated(__file__, seconds=seconds, megabytes=megabytes))
    done = 0

    def one(file: tuple[str, str]) -> Verdict:
        nonlocal done
        child = children.get()
        try:
            verdict = Verdict(**child.ask([file[0], json.loads(file[1])]))
        except Failure as failure:
            verdict = Verdict(file[0], str(failure).partition(" ")[0], str(failure))
        finally:
            children.put(child)
        done += 1
        if sys.stderr.isatty():
            print(f"\r{done}/{len(files)}", end="", file=sys.stderr)
        return verdict

    verdicts = []
    with ThreadPoolExecutor(jobs) as pool:
        for verdict in pool.map(one, files):
            verdicts.append(verdict)
            if out is not None:
                with out.open("a") as lines:
                    lines.write(json.dumps(verdict.as_dict()) + "\n")
    while not children.empty():
        children.get().close()
    return verdicts


def _answer(question: Any) -> dict[str, Any]:
    name, content = question
    tests = [(test["data"], test["valid"]) for test in content["tests"]]
    return judge(name, content["schema"], tests, {}).as_dict()


def main() -> None:
    if "--worker" in sys.argv:
        serve(_answer)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--only", default="", help="a regular expression that the file's name matches")
    parser.add_argument("--keyword", action="append", default=[], help="schemas that mention all of these")
    parser.add_argument("--sample", type=int, help="so many files, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="keep verdicts here, and resume from it")
    parser.add_argument("--again", action="store_true", help="judge again what was not ok")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", type=int, default=40, help="failures to list of each kind")
    arguments = parser.parse_args()
    data = find(arguments.data)
    if data is None:
        sys.exit("maskbench: set TOKAMATA_DATA to the folder of maskbench-dev.tar.xz, or pass --data")
    known: dict[str, Verdict] = {}
    if arguments.out and arguments.out.exists():
        for line in arguments.out.read_text().splitlines():
            verdict = Verdict(**json.loads(line))
            known[verdict.name] = verdict
        if arguments.again:
            known = {name: verdict for name, verdict in known.items() if verdict.outcome == "ok"}
    files = [
        (name, text)
        for name, text in read(data)
        if re.search(arguments.only, name) and all(f'"{keyword}"' in text for keyword in arguments.keyword)
    ]
    if arguments.sample is not None:
        files = random.Random(arguments.seed).sample(files, min(arguments.sample, len(files)))
    made = run([file for file in files if file[0] not in known], jobs=arguments.jobs, out=arguments.out)
    names = {name for name, _ in files}
    print(table([*(v for v in known.values() if v.name in names), *made], listed=arguments.list))


if __name__ == "__main__":
    main()
