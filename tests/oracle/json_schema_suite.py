"""The official JSON-Schema-Test-Suite against json_schema.

    python tests/oracle/json_schema_suite.py [--data ARCHIVE_OR_FOLDER] [--draft draft7] [--only REGEX] [--optional]

The data is json-schema-test-suite.tar.xz, or the unpacked suite, in the folder $TOKAMATA_DATA or where --data says.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tarfile
from pathlib import Path
from typing import Any

from oracle.isolated import Failure, Isolated, serve
from oracle.schema_verdicts import Verdict, judge, table

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
OPTIONS = {"key_order": "any", "numbers": "any", "formats": False}
ARCHIVE = "json-schema-test-suite.tar.xz"


def find(given: str | None = None) -> Path | None:
    """Where the suite is, if it is anywhere."""
    if given:
        return Path(given)
    folder = os.environ.get("TOKAMATA_DATA")
    return Path(folder) / ARCHIVE if folder and (Path(folder) / ARCHIVE).exists() else None


def read(data: Path) -> dict[str, Any]:
    """The JSON files of the suite by their path below its root."""
    if data.is_dir():
        return {str(p.relative_to(data)): json.loads(p.read_text("utf-8")) for p in data.rglob("*.json")}
    files = {}
    with tarfile.open(data) as archive:
        for member in archive:
            stored = archive.extractfile(member) if member.name.endswith(".json") else None
            if stored is not None:
                files[member.name.partition("/")[2]] = json.loads(stored.read())
    return files


def groups(files: dict[str, Any], draft: str, *, optional: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """Name and contents of the test groups of a draft."""
    found = []
    for path, content in sorted(files.items()):
        parts = path.split("/")
        if parts[:2] == ["tests", draft] and (len(parts) == 3) != optional:
            name = "/".join(parts[1:]).removesuffix(".json")
            found += [(f"{name} #{i} {group['description']}", group) for i, group in enumerate(content)]
    return found


def remotes(files: dict[str, Any], draft: str) -> dict[str, Any]:
    """The suite's remote schemas for a draft by URI."""
    others = {f"remotes/{name}/" for name in (*DRAFTS, "draft3", "v1")} - {f"remotes/{draft}/"}
    return {
        "http://localhost:1234/" + path.removeprefix("remotes/"): content
        for path, content in files.items()
        if path.startswith("remotes/") and not path.startswith(tuple(others))
    }


def with_draft(schema: Any, draft: str) -> Any:
    """The schema with the draft's $schema, where it names none."""
    return {"$schema": DRAFTS[draft], **schema} if isinstance(schema, dict) else schema


def run(data: Path, draft: str, only: str = "", *, optional: bool = False, seconds: float = 10.0) -> list[Verdict]:
    files = read(data)
    registry = remotes(files, draft)
    child = Isolated(__file__, seconds=seconds, megabytes=2000)
    verdicts = []
    for name, group in groups(files, draft, optional=optional):
        if not re.search(only, name):
            continue
        schema = with_draft(group["schema"], draft)
        tests = [(test["data"], test["valid"]) for test in group["tests"]]
        # only groups that name a URI may need the others' documents
        needed = registry if "localhost" in json.dumps(schema) else {}
        try:
            answer = child.ask([name, schema, tests, needed, optional and "format" in name])
            verdicts.append(Verdict(**answer))
        except Failure as failure:
            verdicts.append(Verdict(name, str(failure).partition(" ")[0], str(failure), tests=len(tests)))
    child.close()
    return verdicts


def _answer(question: Any) -> dict[str, Any]:
    name, schema, tests, registry, formats = question
    options = {**OPTIONS, "formats": formats, "registry": registry}
    return judge(name, schema, tests, options, ascii_text=True).as_dict()


def main() -> None:
    if "--worker" in sys.argv:
        serve(_answer)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--draft", action="append", choices=DRAFTS)
    parser.add_argument("--only", default="", help="a regular expression that the group's name matches")
    parser.add_argument("--optional", action="store_true", help="the optional tests, formats enforced")
    arguments = parser.parse_args()
    data = find(arguments.data)
    if data is None:
        sys.exit("json_schema_suite: set TOKAMATA_DATA to the folder of json-schema-test-suite.tar.xz, or pass --data")
    for draft in arguments.draft or ["draft2020-12", "draft7"]:
        print(f"== {draft}")
        print(table(run(data, draft, arguments.only, optional=arguments.optional)))


if __name__ == "__main__":
    main()
