from __future__ import annotations

import math
import random
import time

from tokamata.decode.sampling.trie import Trie


def test_children_are_what_a_dictionary_says() -> None:
    rng = random.Random(1)
    trie, oracle = Trie(), {}
    trie.expand(0, 0.0, 10**6, -math.inf)
    for _ in range(5000):
        parent, token = rng.randrange(len(trie)), rng.choice([3, 250_000, rng.randrange(262_144)])
        if (parent, token) in oracle:
            continue
        oracle[parent, token] = trie.add(parent, token, -1.0)
    for (parent, token), node in oracle.items():
        assert trie.child(parent, token) == node
        assert (trie.parent[node], trie.token[node]) == (parent, token)
    for node in range(0, len(trie), 97):
        assert sorted(trie.children(node)) == sorted(n for (p, _), n in oracle.items() if p == node)
    assert all(trie.child(p, 777_777) == -1 for p in range(100))
    node = len(trie) - 1
    path = trie.path(node)
    back = 0
    for token in path:
        back = trie.child(back, token)
    assert back == node


def test_a_node_takes_at_most_100_bytes_and_no_longer_for_large_vocabularies() -> None:
    def seconds(allowed: int) -> float:
        trie = Trie()
        begin = time.process_time()
        node = 0
        for _ in range(4000):
            trie.expand(node, 0.0, allowed, -math.inf)
            child = trie.add(node, allowed // 2, -1e-3)
            trie.take(node, -1e-3)
            node = child
        assert trie.nbytes / (len(trie) - 1) <= 100
        return time.process_time() - begin

    small, large = (min(seconds(allowed) for _ in range(5)) for allowed in (10, 200_000))
    assert large < 10 * small  # thousands of times as long, were each token looked at; room for a busy machine
    trie = Trie()
    for node in range(100_000):
        trie.add(node // 3, node, -1.0)
    assert trie.nbytes / 100_000 <= 100, trie.nbytes / 100_000


def test_the_rest_is_summed_anew_before_a_difference_loses_its_digits() -> None:
    trie = Trie()
    masses = [1.0] + [10.0**-k for k in range(1, 60)]
    masses = [m / sum(masses) for m in masses]
    trie.expand(0, math.log(sum(masses)), len(masses), -math.inf)
    again = 0
    for at, mass in enumerate(masses[:-1]):
        if not trie.take(0, math.log(mass)):
            trie.set_rest(0, math.log(sum(masses[at + 1 :])))
            again += 1
        true = math.log(sum(masses[at + 1 :]))
        assert abs(trie.log_rest[0] - true) < 1e-9, at
    assert again <= 20  # an insertion needs the sum only when the rest fell by a factor of 10,000
    assert trie.take(0, math.log(masses[-1]))
    assert trie.log_rest[0] == -math.inf


def test_futures_and_bounds_go_up_to_the_prompt() -> None:
    trie = Trie()
    trie.expand(0, math.log(0.5), 2, math.log(0.1))
    trie.update_path(0)
    assert math.isclose(math.exp(trie.log_future[0]), 0.6)
    assert math.isclose(math.exp(trie.log_lower[0]), 0.1)
    child = trie.add(0, 7, math.log(0.3))
    assert trie.take(0, math.log(0.3))
    trie.expand(child, -math.inf, 0, math.log(0.2))
    trie.update_path(child)
    assert math.isclose(math.exp(trie.log_future[0]), 0.2 + 0.1 + 0.3 * 0.2)
    assert math.isclose(math.exp(trie.log_lower[0]), 0.1 + 0.3 * 0.2)
