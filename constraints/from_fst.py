"""from_fst: constraints from finite automata, ours, OpenFst's, or files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._core import Language
from ..automata.errors import MissingFileError
from .constraint import DEFAULT_LIMITS, SPECIAL, Constraint, Limits, native_limits

if TYPE_CHECKING:
    from ..automata import Fst


def from_fst(fst: Fst | Any | str | os.PathLike[str], *, limits: Limits | None = None) -> Constraint:
    """The language of an acceptor over bytes.

    ``fst``: an :class:`tokamata.automata.Fst`, a ``pynini.Fst`` or ``pywrapfst.Fst``, or the path of a ``.fst`` file.
    Labels: 0 is epsilon, b is byte b for 1..255, 256 is NUL. Weights are ignored. The machine is determinized (which
    can be exponential: LimitError past ``limits.states``) and trimmed. FstError for transducers and other labels.
    Bytes are just bytes here: nothing that the machine reads is a special token (see :func:`tokamata.special_token`).
    """
    from ..automata import Fst

    own = native_limits(limits, "from_fst") or DEFAULT_LIMITS._native()
    if isinstance(fst, (str, os.PathLike)):
        try:
            found = Path(fst).is_file()
        except (OSError, ValueError):  # names that no file can have
            found = False
        if not found:
            raise MissingFileError(
                f"from_fst: expected the path of a .fst file, got {os.fspath(fst)!r}; check the path"
            )
        machine, source = Fst.read(fst), f"from_fst({os.fspath(fst)!r})"
    elif isinstance(fst, Fst):
        machine, source = fst, "from_fst(Fst)"
    elif hasattr(fst, "write_to_string"):
        machine, source = Fst.read(fst.write_to_string()), f"from_fst({type(fst).__name__})"
    else:
        raise TypeError(
            f"from_fst: expected an Fst, a pynini or pywrapfst Fst, or a path, got {type(fst).__name__}; "
            "tokamata.automata.Fst.from_text reads a machine from its text"
        )
    native = Language.from_fst(machine._native, own)
    return Constraint(native, source=source, has_raw_bytes=bool((machine.arcs_array()["ilabel"] == SPECIAL[0]).any()))
