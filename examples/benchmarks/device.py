"""Masks and steps on a device side by side with the peers' own kernels.

    python examples/benchmarks/device.py [--device cuda] [--rows 256] [--csv device.csv]

Applying: packed masks to logits [rows, V] in bfloat16 and float32, where xgrammar and llguidance are installed beside
their torch kernels, and beside reading and writing the logits once (`logits.mul_(1)`). A step: apply, argmax, advance,
by `DeviceAutomaton`, eagerly and (on CUDA) replayed from a graph. Each figure is the least time of the repeats, in
microseconds; on CUDA between events, so without the host's part.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from common import console, parser, table_of, vocabulary, write_csv
from tokamata.decode.masked_logits import mask_logits_

import tokamata

PATTERN = r'\{"name": "[a-zA-Z ]{1,20}", "born": [0-9]{4}-[0-9]{2}-[0-9]{2}\}'


def least(device: torch.device, call: Callable[[], object], repeat: int) -> float:
    """The least time of a call, in microseconds."""
    call()
    best = float("inf")
    for _ in range(repeat):
        if device.type == "cuda":
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e3)
        else:
            start = time.perf_counter()
            call()
            best = min(best, (time.perf_counter() - start) * 1e6)
    return best


def appliers() -> dict[str, Callable[[torch.Tensor, torch.Tensor], object]]:
    """The kernels that are installed, by name: called with logits and packed masks on their device."""
    found: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {"tokamata": mask_logits_}
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


def main() -> None:
    assert __doc__
    options: argparse.ArgumentParser = parser(__doc__, repeat=30)
    options.add_argument("--device", help="cuda or cpu (default: cuda where there is one)")
    options.add_argument("--rows", type=int, default=256, help="rows of the batch (default 256)")
    asked = options.parse_args()
    device = torch.device(asked.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    name, tokens = vocabulary(asked)
    rows, width = (4 if asked.quick else asked.rows), len(tokens)
    repeat = 2 if asked.quick else asked.repeat
    automaton = tokamata.compile(tokamata.regex(PATTERN), tokens)
    tables = automaton.to(device)
    states = torch.from_numpy(np.random.default_rng(0).integers(2, tables.num_states + 2, rows, dtype=np.int32)).to(
        device
    )
    masks = tables.masks(states)
    figures: list[dict[str, object]] = []
    title = (
        f"µs on {device}: {rows} rows, {name}, {width:,} tokens; {tables.num_states} states, {tables.num_masks} masks"
    )
    table = table_of(title, ("what", "dtype"), ("µs", "of reading and writing once"))
    for dtype in (torch.bfloat16, torch.float32):
        logits = torch.randn(rows, width, device=device).to(dtype)
        once = least(device, lambda: logits.mul_(1), repeat)  # noqa: B023
        timed = {"reading and writing once": once}
        for engine, apply in {} if asked.quick else appliers().items():
            timed[f"apply: {engine}"] = least(device, lambda: apply(logits, masks), repeat)  # noqa: B023
        timed["apply: DeviceAutomaton"] = least(device, lambda: tables.apply(logits, states), repeat)  # noqa: B023

        def step(logits: torch.Tensor = logits) -> torch.Tensor:
            return tables.advance(states, tables.apply(logits, states).argmax(1))

        timed["argmax alone"] = least(device, lambda: logits.argmax(1), repeat)  # noqa: B023
        timed["apply, argmax, advance"] = least(device, step, repeat)
        if device.type == "cuda":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
            timed["apply, argmax, advance, from a graph"] = least(device, graph.replay, repeat)
        for what, value in timed.items():
            table.add_row(what, str(dtype).removeprefix("torch."), f"{value:,.1f}", f"{value / once:.2f}")
            figures.append({"what": what, "dtype": str(dtype), "µs": value, "device": str(device), "rows": rows})
    console().print(table)
    write_csv(asked.csv, figures)


if __name__ == "__main__":
    main()
