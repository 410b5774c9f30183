"""PrefixTreeModel: a model frozen as a tree of prefixes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...automata.checks import checked_path
from ...automata.errors import ConstraintError
from ...tokenizer_fst import Vocabulary
from ...tokenizer_fst.source import open_file, parse_json
from .log_space import NOTHING, log_sum


class PrefixTreeModel:
    """The rows of a model at the prefixes of a finite language, so that samplers can be tested without the model.

    Node 0 is the prompt, node i > 0 adds ``tokens[i]`` to node ``parent[i]``. The vocabulary has the tree's tokens in
    the order of their first node, or of ``token_ids`` where they are told, then the stop token (its EOS), then one
    special token that has the probability of everything outside the tree. Prefixes outside the tree have all of it
    there.

    Args:
        parent: -1 for node 0, else a smaller number.
        tokens: the bytes of each node's token, None for node 0.
        log_p: log-probability of each node's token after its parent.
        log_p_stop: log of the summed probability of all stop tokens, None or -inf where the text may not stop.
        token_ids: the ids that the model's own vocabulary has for the tokens of the nodes, None for node 0; where ids
            are in the order of merges, those of this vocabulary are as well.

    Raises ConstraintError for columns that are no tree or sum to more than 1.
    """

    def __init__(
        self,
        parent: Sequence[int],
        tokens: Sequence[bytes | None],
        log_p: Sequence[float],
        log_p_stop: Sequence[float | None],
        token_ids: Sequence[int | None] | None = None,
    ) -> None:
        """Check and index the columns; O(nodes)."""
        size = len(parent)
        if not size or not len(tokens) == len(log_p) == len(log_p_stop) == size:
            raise ConstraintError("PrefixTreeModel: expected columns of one length, at least 1")
        ids: dict[bytes, int] = {}
        if token_ids is not None:
            named = {(i, t) for i, t in zip(token_ids, tokens, strict=True) if i is not None and t is not None}
            ids = {t: place for place, (_, t) in enumerate(sorted(named))}
            if len(ids) < len(named):
                raise ConstraintError("PrefixTreeModel: expected one id for each token")
        self._token_of = [-1] * size
        children: list[dict[int, float]] = [{} for _ in range(size)]
        self._node: dict[tuple[int, ...], int] = {(): 0}
        paths: list[tuple[int, ...]] = [()]
        for node in range(1, size):
            data, above = tokens[node], parent[node]
            if data is None or not 0 <= above < node:
                raise ConstraintError(f"PrefixTreeModel: node {node}: expected a token and a parent before it")
            token = ids.setdefault(data, len(ids))
            if token in children[above]:
                raise ConstraintError(f"PrefixTreeModel: node {node}: its parent {above} has a child {data!r} already")
            children[above][token] = float(log_p[node])
            paths.append((*paths[above], token))
            self._node[paths[node]] = node
        self.stop = len(ids)
        self.outside = len(ids) + 1
        self.vocabulary = Vocabulary([*ids, None, None], eos_token_ids=[self.stop])
        self._rows: list[dict[int, float]] = []
        self.members: dict[tuple[int, ...], float] = {}
        total = [0.0] * size
        for node in range(size):
            row = dict(children[node])
            if node:
                total[node] = total[parent[node]] + float(log_p[node])
            stop = log_p_stop[node]
            if stop is not None and stop > NOTHING:
                row[self.stop] = float(stop)
                self.members[paths[node]] = total[node] + float(stop)
            inside = log_sum(row.values())
            if inside > 1e-3:
                raise ConstraintError(f"PrefixTreeModel: node {node}: its tokens sum to {math.exp(inside):.6g}")
            if inside < 0:
                row[self.outside] = math.log(-math.expm1(inside))
            self._rows.append(row)
        self.log_z = log_sum(self.members.values())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PrefixTreeModel:
        """Read a JSON object with the columns ``parent``, ``token`` (texts), ``log_p``, ``log_p_stop``, ``token_id``.

        The last one may be missing.

        Raises:
            MissingFileError: no such file.
            ConstraintError: another file than that.
        """
        place = checked_path("PrefixTreeModel.load", path)
        with open_file(place, "pass the path of a tree's JSON file") as file:
            tree: Mapping[str, Any] = parse_json(file.read(), str(place))
        columns = ("parent", "token", "log_p", "log_p_stop")
        if not isinstance(tree, Mapping) or any(not isinstance(tree.get(name), list) for name in columns):
            raise ConstraintError(
                f"PrefixTreeModel.load: {str(place)!r}: expected an object with the columns {', '.join(columns)}, got "
                "another one; pass a tree's JSON file"
            )
        tokens = [None if t is None else str(t).encode() for t in tree["token"]]
        return cls(tree["parent"], tokens, tree["log_p"], tree["log_p_stop"], tree.get("token_id"))

    def next_log_probs(self, prefixes: list[tuple[int, ...]]) -> NDArray[np.float64]:
        """float64 [rows, V], V = len(self.vocabulary)."""
        table = np.full((len(prefixes), len(self.vocabulary)), NOTHING)
        for row, prefix in zip(table, prefixes, strict=True):
            node = self._node.get(tuple(prefix))
            if node is None:
                row[self.outside] = 0.0
            else:
                for token, log_p in self._rows[node].items():
                    row[token] = log_p
        return table

    def texts(self) -> list[bytes]:
        """The members' texts, each once, in the order of the tree."""
        join = (b"".join(self.vocabulary.token_bytes(t) or b"" for t in tokens) for tokens in self.members)
        return list(dict.fromkeys(join))

    def conditional(self) -> dict[tuple[int, ...], float]:
        """The exact law: log-probability of each member on condition that it is one."""
        return {tokens: log_p - self.log_z for tokens, log_p in self.members.items()}
