"""Chat constraints over real vocabularies: masks agree with walking, budgets are kept, tokenizers' own marks count."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from typing import Any

import pytest
from oracle import mask_walk
from oracle.packages import vocabulary_file

import tokamata

DEFINITIONS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "now"}},
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
                "required": ["city"],
                "additionalProperties": False,
            },
        },
    },
]
CONSTRAINTS = {
    "free text": lambda: tokamata.free_text(["</think>", "ana"]),
    "reasoning": lambda: tokamata.reasoning(tokamata.regex("[0-9]{1,3}")),
    "tags": lambda: tokamata.structural_tags(
        [("```json\n", tokamata.json_schema({"type": "object"}), "\n```"), ("<a>", tokamata.regex("[0-9]+"), "</a>")]
    ),
    "hermes": lambda: tokamata.tools(DEFINITIONS),
    "mistral": lambda: tokamata.tools(DEFINITIONS, "mistral", tool_choice="required"),
}


@lru_cache(None)
def real_vocabulary() -> tokamata.Vocabulary:
    return tokamata.Vocabulary.from_file(vocabulary_file("mistral"))


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_masks_agree_with_walking(name: str) -> None:
    automaton = tokamata.compile(CONSTRAINTS[name](), real_vocabulary())
    texts = ["I think <", "<tool_call>\n{", "```js", "```json\n{", "an", "<think>an", "<think>2</think>\n"]
    for seed in range(6):
        random_ = random.Random(seed)
        state = automaton.start()
        wanted = random_.choice(texts).encode()
        for _ in range(14):
            allowed = mask_walk.agreed(automaton, state, name, seed)
            if not allowed:
                break
            token_bytes = real_vocabulary().token_bytes
            near = [t for t in allowed if (b := token_bytes(t)) and wanted.startswith(b)]
            token = random_.choice(near or allowed)
            wanted = wanted[len(token_bytes(token) or b"") :] if near else wanted
            state.advance(token)


def test_budgets_end_calls_in_time() -> None:
    made = tokamata.tools(DEFINITIONS, "mistral", tool_choice="required")
    automaton = tokamata.compile(made, real_vocabulary())
    with pytest.raises(tokamata.BudgetError, match="takes 14 of this vocabulary's tokens"):
        automaton.start(5)
    for seed in range(4):
        random_ = random.Random(seed)
        state, data = automaton.start(24), b""
        while not state.is_finished:
            token = random_.choice(mask_walk.allowed(state.mask()))
            state.advance(token)
            data += automaton._tokens.token_bytes(token) or b""
        assert state.num_tokens <= 24
        assert made.parse(data).calls


def test_added_tokens_that_are_no_special_ones_spell_their_text() -> None:
    """Qwen's tokenizers have <tool_call> as an added token that is not special."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({"<end>": 0} | {c: i for i, c in enumerate(alphabet, 1)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.add_special_tokens(["<end>"])
    tokenizer.add_tokens([AddedToken("<tool_call>", special=False), AddedToken("</tool_call>", special=False)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>")
    vocabulary = tokamata.Vocabulary.from_transformers(fast)
    call = "<tool_call>\n" + json.dumps({"name": "now", "arguments": {}}) + "\n</tool_call>"
    tokens = fast(call, add_special_tokens=False).input_ids
    assert tokens[0] == fast.convert_tokens_to_ids("<tool_call>")
    state = tokamata.compile(tokamata.tools(DEFINITIONS), vocabulary).start()
    assert state.validate([*tokens, 0]) == len(tokens) + 1
