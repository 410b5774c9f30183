"""Equal expressions keep one number while the table that finds them grows, however far that has come."""

import tokamata

TOKENS: list[bytes | None] = [*(bytes([b]) for b in range(256)), None]


def test_expressions_made_again_while_the_table_grows_are_the_ones_from_before():
    """`u` and digits make an expression each; `v` and `3` make it again beside a new one, as `7` leads to it alone."""
    turns = 3000  # some 6,000 expressions by `u`, and as many by `v`, half way through which the table doubles
    automaton = tokamata.compile(
        tokamata.regex(rf"u[0-9]{{0,{turns}}};|v(?:[0-9]{{0,{turns}}};|[0-4]{{0,{turns}}}!)"),
        tokamata.Vocabulary(TOKENS, eos_token_ids=[256]),
    )
    for first, digit in (("u", "7"), ("v", "3")):
        state = automaton.start()
        state.advance(ord(first))
        state.advance(ord(digit))
        before = automaton.num_states
        for _ in range(turns - 10):
            state.advance(ord(digit))
        assert automaton.num_states - before == turns - 10, f"after {first}: expected one new state for each digit"
        state.advance(ord(";"))
        assert state.is_final
