"""Masks and steps on a device side by side with the peers' own kernels, and what is asked of them.

    python examples/benchmarks/device.py [--device cuda] [--rows 256] [--csv device.csv]

One command for a machine with a GPU, a few minutes; it needs torch and tokamata, and takes Qwen's vocabulary, one that
--vocabulary names, or else a made-up one of 151,936 tokens.

Applying: packed masks to logits [rows, V] in bfloat16, float16 and float32, where xgrammar and llguidance are installed
beside their torch kernels, and beside reading and writing the logits once (`logits.mul_(1)`). A step: apply, argmax,
advance, by `DeviceAutomaton`; "added" is a step less its argmax. Each figure is the least time of the repeats, in
microseconds; calls go through several logits in turn, more than a GPU's cache holds. On CUDA times are between events,
of many calls in a row, and again of the same calls replayed from a graph, which leaves out what launching costs the
host. A profiler counts what waits for the host in a step. What all kernels leave is compared first.

Where constraints are too large for tables, the host fills masks: a step with a stand-in of a forward pass (products of
matrices of a few milliseconds), its tokens read by the host, with `HostMasks` and without.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from common import console, parser, table_of, vocabulary, vocabulary_files, write_csv
from tokamata.decode import BatchState, DeviceAutomaton
from tokamata.decode.host_masks import HostMasks
from tokamata.decode.masked_logits import mask_logits_

import tokamata

PATTERNS = (
    r'\{"name": "[a-zA-Z ]{1,20}", "born": [0-9]{4}-[0-9]{2}-[0-9]{2}\}',
    r'"([^"\\\x00-\x1f]|\\["\\/bfnrt])*"',
    r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?",
)
WIDTH = 151_936  # of Qwen's logits
CALLS = 20  # between two events
BUFFERS = 4  # logits that calls go through in turn
FORWARD = 5_000  # microseconds of the stand-in of a forward pass
WAITING = ("Synchronize", "DtoH", "HtoD", "aten::item", "aten::_local_scalar_dense")
Applier = Callable[[torch.Tensor, torch.Tensor], object]
Call = Callable[[], object]


def made_up() -> tokamata.Vocabulary:
    """A vocabulary of Qwen's size for machines that have none."""
    rng = random.Random(0)
    tokens: dict[bytes, None] = {bytes([b]): None for b in range(256)}
    letters = [c.encode() for c in "etaoinshrdlucmfwypvbgkjqxz"]
    while len(tokens) < WIDTH - 1:
        word = b"".join(rng.choices(letters, k=rng.randrange(2, 9)))
        tokens[rng.choice([b"", b" ", b'"', b"\n", b"1"]) + (word.title() if rng.random() < 0.3 else word)] = None
    return tokamata.Vocabulary([*tokens, None], eos_token_ids=[WIDTH - 1])


def least(device: torch.device, calls: Sequence[Callable[[], object]], repeat: int) -> float:
    """The least time of a call, in microseconds; the calls are made in turn."""
    for _ in range(3):
        calls[0]()
    best = float("inf")
    for _ in range(repeat):
        if device.type == "cuda":
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for i in range(CALLS):
                calls[i % len(calls)]()
            end.record()
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e3 / CALLS)
        else:
            start = time.perf_counter()
            calls[0]()
            best = min(best, (time.perf_counter() - start) * 1e6)
    return best


def least_replayed(calls: Sequence[Callable[[], object]], repeat: int) -> float:
    """The least time of a call on the device alone: CALLS of them replayed from one CUDA graph."""
    graph = graph_of([calls[i % len(calls)] for i in range(CALLS)])
    best = float("inf")
    for _ in range(repeat):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e3 / CALLS)
    return best


def appliers() -> dict[str, Applier]:
    """The kernels that are installed, by name: called with logits and packed masks on their device."""
    found: dict[str, Applier] = {"tokamata": mask_logits_}
    try:
        from llguidance.torch import apply_token_bitmask_inplace as by_llguidance

        found["llguidance"] = by_llguidance
    except ImportError:
        pass
    try:
        from xgrammar import apply_token_bitmask_inplace as by_xgrammar

        found["xgrammar"] = by_xgrammar
    except ImportError:
        pass
    return found


def graph_of(calls: Sequence[Callable[[], object]]) -> torch.cuda.CUDAGraph:
    """The calls, one after the other, as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph


def waits(step: Callable[[], object]) -> list[str]:
    """What a profiler sees in a step that waits for the host or copies from or to it; an error where PyTorch does."""
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile, torch.profiler.record_function("step"):
        step()
    events = [e for e in profile.events() or [] if e.device_type == torch.autograd.DeviceType.CPU]
    inside = [e.time_range for e in events if e.name == "step"]
    return [
        e.name
        for e in events
        if any(part in e.name for part in WAITING) and any(r.start <= e.time_range.start <= r.end for r in inside)
    ]


def same_as_states(tables: DeviceAutomaton, automaton: tokamata.TokenAutomaton, steps: int = 24) -> None:
    """Random walks on the device and by decoding states: the same tokens allowed, the same ends."""
    rng = np.random.default_rng(1)
    state, at = automaton.start(), tables.start(1)
    for _ in range(steps):
        logits = torch.zeros(1, tables.size, device=tables.device, dtype=torch.bfloat16)
        allowed = torch.isfinite(tables.apply(logits, at)).cpu().numpy()[0]
        expected = np.unpackbits(state.mask().view(np.uint8), bitorder="little")[: tables.size].astype(bool)
        assert (allowed == expected).all(), "masks differ"
        token = int(rng.choice(np.flatnonzero(allowed)))
        state.advance(token)
        at = tables.advance(at, torch.tensor([token], device=tables.device))
        assert bool(tables.is_finished(at)[0]) == state.is_finished, "ends differ"
        if state.is_finished:
            return


def beside_a_forward_pass(batch: BatchState, device: torch.device, width: int, repeat: int) -> dict[str, float]:
    """Steps whose tokens the host reads, with masks that the host fills beside the forward pass and without."""
    rows = len(batch)
    logits = torch.randn(rows, width, device=device, dtype=torch.bfloat16)
    scores = torch.empty_like(logits)
    tall = torch.randn(1 << 12, 1 << 12, device=device, dtype=torch.bfloat16) if device.type == "cuda" else None
    product = torch.empty_like(tall) if tall is not None else None
    count = 1
    if tall is not None:
        one = least(device, [lambda: torch.mm(tall, tall, out=product)], repeat)
        count = max(1, round(FORWARD / one))

    def forward() -> None:
        if tall is not None:
            for _ in range(count):
                torch.mm(tall, tall, out=product)
        scores.copy_(logits)

    pass_ = graph_of([forward]).replay if device.type == "cuda" else forward

    def free() -> None:
        pass_()
        scores.argmax(1).cpu()

    def constrained(host: HostMasks) -> None:
        pass_()  # returns at once; what follows is done beside it
        if tokens:
            batch.advance(tokens.pop())
        host.begin()
        tokens.append(host.apply(scores).argmax(1).cpu())

    tokens: list[torch.Tensor] = []
    starts = [state.copy() for state in batch if state is not None]
    times: dict[str, list[float]] = {"free": [], "masks by the host": [], "host: fill": []}
    with HostMasks(batch, device, width) as host:
        for turn in range(2 * repeat + 6):
            call, key = (free, "free") if turn % 2 else (partial(constrained, host), "masks by the host")
            begin = time.perf_counter()
            call()
            if turn >= 6:
                times[key].append((time.perf_counter() - begin) * 1e6)
            if key != "free" and any(state is not None and state.is_finished for state in batch):
                now = zip(batch, starts, strict=True)
                batch.assign([new.copy() if state is None or state.is_finished else state for state, new in now])
                tokens.clear()
        out = batch.masks()
        for _ in range(repeat):
            begin = time.perf_counter()
            batch.fill_masks(out)
            times["host: fill"].append((time.perf_counter() - begin) * 1e6)
    middle = {key: sorted(values)[len(values) // 2] for key, values in times.items()}
    return {
        "host: fill all masks (median)": middle["host: fill"],
        "forward pass, argmax, tokens to the host (median)": middle["free"],
        "the same with masks by the host, states advanced (median)": middle["masks by the host"],
        "added by masks of the host": middle["masks by the host"] - middle["free"],
    }


def main() -> None:
    assert __doc__
    options: argparse.ArgumentParser = parser(__doc__, repeat=20)
    options.add_argument("--device", help="cuda or cpu (default: cuda where there is one)")
    options.add_argument("--rows", type=int, default=256, help="rows of the batch (default 256)")
    asked = options.parse_args()
    device = torch.device(asked.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    cuda = device.type == "cuda"
    given = asked.quick or asked.vocabulary or vocabulary_files()
    name, tokens = vocabulary(asked) if given else ("made-up", made_up())
    rows = 4 if asked.quick else asked.rows
    width = max(len(tokens), 0 if asked.quick else WIDTH)
    repeat = 2 if asked.quick else asked.repeat
    automata = [tokamata.compile(tokamata.regex(pattern), tokens) for pattern in PATTERNS]
    parts = [automaton.to(device) for automaton in automata]
    for part, automaton in zip(parts, automata, strict=True):
        same_as_states(part, automaton)
    tables = DeviceAutomaton.joined(parts)
    plain = DeviceAutomaton.joined([automaton.to(device, kernels="torch") for automaton in automata])
    at = np.random.default_rng(0).integers(2, tables.num_states + 2, rows, dtype=np.int32)
    states = torch.from_numpy(at).to(device)
    masks = torch.zeros(rows, -(-width // 32), dtype=torch.int32, device=device)
    masks[:, : tables.mask_rows.shape[1]] = tables.masks(states)
    figures: list[dict[str, object]] = []
    what = torch.cuda.get_device_name(device) if cuda else str(device)
    title = f"µs on {what}: {rows} rows, {name}, {width:,} logits; {tables.num_states} states, {tables.num_masks} masks"
    table = table_of(title, ("what", "dtype"), ("µs", "of reading and writing once"))
    verdicts: list[tuple[str, str, bool]] = []
    for dtype in (torch.bfloat16, torch.float16, torch.float32):
        logits = [torch.randn(rows, width, device=device).to(dtype) for _ in range(BUFFERS if cuda else 1)]
        expected = tables.apply(logits[0].clone(), states)
        strided = logits[0].t().contiguous().t()
        now = states.clone()
        chosen = expected.argmax(1)

        def step(scores: torch.Tensor, now: torch.Tensor = now) -> torch.Tensor:
            return tables.advance(now, tables.apply(scores, now).argmax(1), out=now)

        def each(call: Callable[[torch.Tensor], object], logits: list[torch.Tensor] = logits) -> list[Call]:
            return [partial(call, scores) for scores in logits]

        asked_for: dict[str, list[Call]] = {"reading and writing once": each(lambda scores: scores.mul_(1))}
        for engine, apply in ({} if asked.quick else appliers()).items():
            try:
                left = logits[0].clone()
                apply(left, masks)
                if not torch.equal(left, expected):
                    console().print(f"{engine}: other logits than DeviceAutomaton in {dtype}")
                asked_for[f"apply: {engine}"] = each(partial(lambda apply, scores: apply(scores, masks), apply))
            except Exception as error:  # kernels refuse dtypes and raise what they like
                console().print(f"{engine}: {dtype}: {type(error).__name__}: {error}", highlight=False)
        asked_for["apply: DeviceAutomaton"] = each(lambda scores: tables.apply(scores, states))
        asked_for["apply: DeviceAutomaton, by columns"] = [partial(tables.apply, strided, states)]
        asked_for["advance"] = [partial(tables.advance, states, chosen)]
        if cuda:
            asked_for["apply: PyTorch alone"] = each(lambda scores: plain.apply(scores, states))
            asked_for["advance: PyTorch alone"] = [partial(plain.advance, states, chosen)]
        asked_for["argmax alone"] = each(lambda scores: scores.argmax(1))
        asked_for["apply, argmax, advance"] = each(step)
        timed: dict[str, float] = {}
        for key, calls in asked_for.items():
            timed[key] = least(device, calls, repeat)
            if cuda:
                try:
                    timed[f"{key}, from a graph"] = least_replayed(calls, repeat)
                except Exception as error:  # a peer's kernel that cannot be captured
                    console().print(f"{key}: {dtype}: {type(error).__name__}: {error}", highlight=False)
        added = timed["added by a step"] = timed["apply, argmax, advance"] - timed["argmax alone"]
        graph = ", from a graph" if cuda else ""
        if cuda:
            replayed = timed[f"apply, argmax, advance{graph}"] - timed[f"argmax alone{graph}"]
            timed[f"added by a step{graph}"] = replayed
            found = waits(partial(step, logits[0]))
            verdicts.append((f"nothing waits for the host, {dtype}", ", ".join(found) or "nothing", not found))
        once = timed[f"reading and writing once{graph}"]
        if dtype == torch.bfloat16:
            mine = timed[f"apply: DeviceAutomaton{graph}"]
            verdicts.append(("apply <= 1.3 of reading and writing once", f"{mine / once:.2f}", mine <= 1.3 * once))
            verdicts.append((f"a step adds <= 60 µs at {rows} rows", f"{added:.1f} µs", added <= 60))
            if cuda:
                text = f"{replayed:.1f} µs"
                verdicts.append((f"a step from a graph adds <= 60 µs at {rows} rows", text, replayed <= 60))
            for engine in ("xgrammar", "llguidance"):
                for how in {"", graph}:
                    theirs, ours = timed.get(f"apply: {engine}{how}"), timed.get(f"apply: tokamata{how}")
                    if theirs is not None and ours is not None:
                        text = f"{ours:.1f} / {theirs:.1f} µs"
                        verdicts.append((f"apply faster than {engine}{how}", text, ours < theirs))
        for key, value in timed.items():
            table.add_row(key, str(dtype).removeprefix("torch."), f"{value:,.1f}", f"{value / once:.2f}")
            figures.append({"what": key, "dtype": str(dtype), "µs": value, "device": what, "rows": rows})
    mixed = [*automata, tokamata.compile(tokamata.json_value(), tokens)]  # the last one fits no tables
    batch = BatchState([mixed[row % len(mixed)].start() for row in range(rows)])
    for key, value in beside_a_forward_pass(batch, device, width, repeat).items():
        table.add_row(key, "bfloat16", f"{value:,.1f}", "")
        figures.append({"what": key, "dtype": "torch.bfloat16", "µs": value, "device": what, "rows": rows})
    console().print(table)
    for key, text, good in verdicts:
        console().print(f"{'reached' if good else 'MISSED '}  {key}: {text}", highlight=False)
        figures.append({"what": key, "reached": good, "value": text})
    write_csv(asked.csv, figures)


if __name__ == "__main__":
    main()
