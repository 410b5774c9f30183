"""What json_schema says about a schema and instances with known validity; tables of the outcomes."""

from __future__ import annotations

import json
import re
import resource
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import tokamata


@dataclass
class Verdict:
    """The outcome for one schema: "ok", "wrong accept", "wrong reject", "refused", "crash", "timeout" or "memory"."""

    name: str
    outcome: str = "ok"
    detail: str = ""
    accepted: list[str] = field(default_factory=list)  # invalid instances that were accepted
    rejected: list[str] = field(default_factory=list)  # valid instances that were not, with the place
    tests: int = 0
    milliseconds: float = 0.0
    megabytes: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(
    name: str, schema: Any, tests: list[tuple[Any, bool]], options: dict[str, Any], *, ascii_text: bool = False
) -> Verdict:
    """Compile a schema and ask for every instance, written by json.dumps."""
    verdict = Verdict(name, tests=len(tests))
    start = time.process_time()
    try:
        constraint = tokamata.json_schema(schema, **options)
    except (ValueError, RuntimeError) as error:
        # a schema without any value is right where no instance is valid
        contradictory = "no JSON value" in str(error) and not any(valid for _, valid in tests)
        verdict.outcome = "ok" if contradictory else "refused"
        verdict.detail = "" if contradictory else _reason(error)
        constraint = None
    for data, valid in tests if constraint is not None else ():
        text = json.dumps(data, ensure_ascii=ascii_text)
        assert constraint is not None
        try:
            accepted = constraint.accepts(text)
            if accepted and not valid:
                verdict.accepted.append(text)
            if valid and not accepted:
                place = constraint.viable_prefix(text)
                data_bytes = text.encode()
                shown = data_bytes[max(0, place - 60) : place].decode("utf-8", "replace")
                verdict.rejected.append(f"{shown}⟨here⟩{data_bytes[place : place + 30].decode('utf-8', 'replace')}")
        except (ValueError, RuntimeError) as error:
            verdict.outcome, verdict.detail = "refused", _reason(error)
    if verdict.accepted:
        verdict.outcome = "wrong accept"
    elif verdict.rejected:
        verdict.outcome = "wrong reject"
    verdict.milliseconds = (time.process_time() - start) * 1000
    verdict.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return verdict


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def kind_of(reason: str) -> str:
    """A reason without the places and names in it, to group by."""
    reason = re.sub(r"'[^']*'|\"[^\"]*\"", "…", reason)
    return re.sub(r"\d+", "N", reason)[:110]


def table(verdicts: list[Verdict], *, listed: int = 40) -> str:
    """Counts, then every failure with what is needed to reproduce it, then refusals by reason."""
    counts = Counter(v.outcome for v in verdicts)
    total = len(verdicts)
    lines = [f"{total} schemas, {sum(v.tests for v in verdicts)} instances"]
    for outcome, count in counts.most_common():
        lines.append(f"  {outcome:14} {count:6}  {100 * count / max(total, 1):6.2f} %")
    lines.append(f"  wrong accepts of instances: {sum(len(v.accepted) for v in verdicts)}")
    lines.append(f"  wrong rejects of instances: {sum(len(v.rejected) for v in verdicts)}")
    if verdicts:
        slow = sorted(verdicts, key=lambda v: -v.milliseconds)[:3]
        lines.append(f"  peak memory {max(v.megabytes for v in verdicts):.0f} MB; slowest (compile and all instances): "
                     + ", ".join(f"{v.name} {v.milliseconds:.0f} ms" for v in slow))  # fmt: skip
    shown = Counter()  # type: Counter[str]
    for v in sorted(verdicts, key=lambda v: (v.outcome, v.name)):
        if v.outcome in ("ok", "refused"):
            continue
        shown[v.outcome] += 1
        if shown[v.outcome] > listed:
            continue
        lines.append(f"{v.outcome}: {v.name} {v.detail}")
        lines += [f"    accepted {text[:160]}" for text in v.accepted[:2]]
        lines += [f"    rejected {text[:160]}" for text in v.rejected[:2]]
    reasons: dict[str, list[Verdict]] = {}
    for v in verdicts:
        if v.outcome == "refused":
            reasons.setdefault(kind_of(v.detail), []).append(v)
    for reason, group in sorted(reasons.items(), key=lambda item: -len(item[1])):
        lines.append(f"refused {len(group):4}: {reason}")
        lines.append(f"    e.g. {', '.join(v.name for v in group[:4])}: {group[0].detail[:220]}")
    return "\n".join(lines)
