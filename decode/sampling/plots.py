"""Plots of learning curves with matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...automata.checks import checked_mapping, checked_type
from .evaluation import Curve


def plot_kl(
    curves: Mapping[str, Curve], path: str | os.PathLike[str] | None = None, *, title: str = "", levels: Any = None
) -> Any:
    """Draw the divergence from the exact law against samples: mean over seeds, 10th to 90th percentile shaded.

    Args:
        curves: by the name that the legend shows.
        path: written there if given (.png, .svg, .pdf).
        title: above the picture.
        levels: mapping name -> nats, drawn as horizontal lines (masking's, say).

    Returns the matplotlib figure. Raises ImportError without matplotlib: pip install 'tokamata[draw]'.
    """
    _check("plot_kl", curves)
    figure, axes = _axes(title, "KL from the conditional law, nats")
    for name, curve in curves.items():
        _draw(axes, curve.marks, np.maximum(curve.kl, 1e-17), name)
    axes.set_yscale("log")
    return _finished(figure, axes, levels, path)


def plot_expectation(
    curves: Mapping[str, Curve], path: str | os.PathLike[str] | None = None, *, title: str = "", levels: Any = None
) -> Any:
    """Draw the expected conditional probability of a sample against samples; arguments as `plot_kl`.

    Where the law is the conditional one P, it is the sum of P squared: give that among ``levels``.
    """
    _check("plot_expectation", curves)
    figure, axes = _axes(title, "expected conditional probability of a sample")
    for name, curve in curves.items():
        _draw(axes, curve.marks, curve.expectation, name)
    return _finished(figure, axes, levels, path)


def _check(function: str, curves: object) -> None:
    for curve in checked_mapping(function, "curves", curves, '{"ASAp": learning_curve(...)}').values():
        checked_type(function, "each of the curves as a Curve", curve, Curve, "pass what learning_curve returned")


def _axes(title: str, ylabel: str) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'tokamata[draw]'") from error
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel("samples drawn before")
    axes.set_ylabel(ylabel)
    axes.set_xscale("symlog", linthresh=1)
    return figure, axes


def _draw(axes: Any, marks: Any, values: Any, name: str) -> None:
    (line,) = axes.plot(marks, values.mean(axis=0), label=name, marker=".", markersize=4)
    low, high = np.percentile(values, [10, 90], axis=0)
    axes.fill_between(marks, low, high, alpha=0.15, color=line.get_color(), linewidth=0)


def _finished(figure: Any, axes: Any, levels: Any, path: str | os.PathLike[str] | None) -> Any:
    for name, level in (levels or {}).items():
        axes.axhline(level, linestyle=":", color="grey", label=name)
    axes.legend(fontsize="small")
    if path is not None:
        from matplotlib import rc_context

        # Texts stay texts, and the same curves give the same bytes.
        is_svg = os.fspath(path).endswith(".svg")
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "tokamata"}):
            figure.savefig(path, metadata={"Date": None} if is_svg else None)
    return figure
