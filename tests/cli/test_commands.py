"""The commands, run in this process: what they write, their exit codes, errors as one line."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokamata.automata import Fst
from tokamata.constraints import grammars
from tokamata.tokenizer_fst.artifact import write_artifact

import tokamata
from tokamata.cli import common, run
from tokamata.cli.interrupts import ended_by_ctrl_c

TOKENS: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), b"yes", b"no", b"\xc3", b"yes"]


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> Result:
        for console, stream in ((common.out, sys.stdout), (common.errors, sys.stderr)):
            console.file = stream
            console.width = 200
        with pytest.raises(SystemExit) as stopped:
            run([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Result(int(stopped.value.code or 0), captured.out, captured.err)

    return call


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "small.vocab.fst"
    tokamata.Vocabulary(TOKENS, eos_token_ids=[0], special_tokens={"<end>": 0}).save(path)
    return path


@pytest.mark.parametrize(
    "command", ["vocab", "compile", "info", "draw", "check", "sample", "diff", "grammars", "generate", "serve"]
)
def test_help_has_examples(cli, command: str) -> None:
    result = cli(command, "--help")
    assert result.code == 0
    assert f"tokamata {command} " in result.out.split("Examples")[1]


def test_check_diagnoses_grammars(cli, tmp_path: Path) -> None:
    """A grammar file alone is diagnosed; with a constraint its name is a text as any other."""
    path = tmp_path / "g.lark"
    path.write_text('start: e\ne: e "+" e\n | N\nN: /[0-9]+/\nunused: N\n')
    result = cli("check", path)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "ambiguous: 3 rules, 2 terminals, lexer basic"
    assert "  line 5, column 1: unused: unreachable: the start rule never comes to it" in lines
    assert "  line 2, column 1: e: direct left recursion: e -> e" in lines
    assert any('shift/reduce conflict before "+"' in line for line in lines)
    assert 'ambiguous: N "+" N "+" N: e(e "+" e(e "+" e)) or e(e(e "+" e) "+" e)' in lines[-1]
    assert cli("check", path, "--strict").code == 1
    for text, why in (
        (
            'start: A\nA: /[a-z]+/ & "1"\n',
            "the start rule start has no text: .* A (line 2, column 1: it matches nothing)",
        ),
        ("start: A A\nA: /[a-z]+/\n", "its terminals run into each other"),
    ):
        path.write_text(text)
        result = cli("check", path)
        assert (result.code, result.out.split(":")[0]) == (1, "no text")
        assert re.search(re.escape(why).replace(r"\.\*", ".*"), result.out.replace("\n", " ")), result.out
    path.with_suffix(".gbnf").write_text('root ::= "a" x\nx ::= "b"')
    result = cli("check", path.with_suffix(".gbnf"), "--strict")
    assert (result.code, result.out) == (0, "deterministic: 2 rules, 2 terminals, lexer none\n")
    missing = cli("check", path.with_suffix(".gbnf"), "--start", "y").err
    assert missing.startswith("tokamata: grammar: no rule 'y'")
    assert missing.endswith("; pass --start RULE\n")
    assert cli("check", "-r", ".*lark", "g.lark").out.startswith("match")
    assert (
        cli("check", tmp_path / "none.lark").err
        == f"tokamata: {tmp_path / 'none.lark'}: No such file or directory; check the path\n"
    )
    bare = tmp_path / "bare.lark"
    bare.write_bytes("start: 'é'".encode("latin-1"))
    expected = (
        f"tokamata: {bare}: expected UTF-8 text, got invalid continuation byte at byte 8; save the file as UTF-8\n"
    )
    assert cli("check", bare).err == cli("check", "-g", bare, "x").err == expected
    path.write_text("start: (")
    assert (
        cli("check", path).err == "tokamata: grammar: line 1, column 9: unclosed parenthesis; mend the grammar there\n"
    )


def test_constraints_from_grammars(cli, tmp_path: Path) -> None:
    path = tmp_path / "g.gbnf"
    path.write_text('root ::= "(" root ")" | x\nx ::= "1"')
    assert cli("check", "-g", path, "((1))").out.startswith("match")
    assert cli("check", "-g", path, "((1)").out.startswith("incomplete")
    assert cli("check", "-g", path, "--start", "x", "(1)").out.startswith("no match")
    assert cli("sample", "-g", path, "-n", "1", "--seed", "3").out.count("1") == 1
    assert cli("sample", "-g", path, "--start", "x").out == '"1"\n'
    assert cli("check", "-g", "json", "[1, {}]").out.startswith("match")
    assert "ready-made grammar; tokamata grammars lists those" in cli("check", "-g", "jsn", "1").err
    assert "--grammar and --schema, got --literal and --grammar" in cli("check", "-g", "json", "-l", "x", "1").err


def test_version_and_bare_command(cli) -> None:
    assert cli("--version").out == f"tokamata {tokamata.__version__}\n"
    assert "Commands" in cli("--help").out


def test_grammars_import_from_beside_their_file(cli, tmp_path: Path) -> None:
    (tmp_path / "pairs.lark").write_text('pair: "(" pair ")" | "x"\n')
    path = tmp_path / "main.lark"
    path.write_text("%import .pairs.pair\nstart: pair\n")
    assert cli("check", path).out.startswith("deterministic")
    assert cli("check", "-g", path, "((x))").out.startswith("match")


def test_check_match(cli) -> None:
    result = cli("check", "-r", "[0-9]{4}-[0-9]{2}", "2026-11")
    assert (result.code, result.out) == (0, "match: 7 bytes\n")


def test_check_says_where_it_fails_and_what_could_follow(cli) -> None:
    result = cli("check", "-r", "a\n[0-9]{2,3}(x|é)?", "a\n12-")
    assert result.code == 1
    assert "fails at byte 4 (line 2, column 3)" in result.out
    assert '"a\\n12"' in result.out
    assert "0-9  x  other than ASCII  or the end" in result.out


def test_check_incomplete_and_empty(cli) -> None:
    result = cli("check", "-c", "yes", "-c", "yet", "ye")
    assert result.code == 1
    assert "incomplete" in result.out
    assert "could follow:   s  t\n" in result.out


def test_check_file_and_exactly_one_text(cli, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\x00")
    assert cli("check", "-r", r"\x00", "--file", path).code == 0
    result = cli("check", "-r", "x")
    assert result.code == 2
    assert "expected a text or --file" in result.err


def test_sample_is_seeded_and_holds_members(cli) -> None:
    pattern = "(yes|no)[!?]{1,9}"
    first = cli("sample", "-r", pattern, "-n", 20, "--seed", 3)
    assert first.code == 0
    assert first.out == cli("sample", "-r", pattern, "-n", 20, "--seed", 3).out
    assert first.out != cli("sample", "-r", pattern, "-n", 20, "--seed", 4).out
    constraint = tokamata.regex(pattern)
    lines = first.out.splitlines()
    assert len(lines) == 20
    assert all(constraint.accepts(line[1:-1]) for line in lines)


def test_sample_tells_when_there_are_too_few(cli) -> None:
    result = cli("sample", "-c", "a", "-c", "b", "-n", 5)
    assert sorted(result.out.split()) == ['"a"', '"b"']
    assert "2 members found, 5 asked for" in result.err


def test_vocab_inspects_saves_and_reads_again(cli, saved: Path, tmp_path: Path) -> None:
    result = cli("vocab", saved)
    assert result.code == 0
    assert "261" in result.out
    assert "<end>=0" in result.out
    copy = tmp_path / "copy.fst"
    assert cli("vocab", saved, "--save", copy).code == 0
    assert tokamata.Vocabulary.load(copy).token_bytes(257) == b"yes"


def test_vocab_looks_tokens_up(cli, saved: Path) -> None:
    result = cli("vocab", saved, "--token", 0, "--token", 257, "--find", "yes", "--find", "absent")
    assert result.out.splitlines() == ["0  special <end>", '257  "yes"', '"yes"  257 260', '"absent"  no token']
    result = cli("vocab", saved, "--token", 1000)
    assert result.code == 1
    assert result.err.startswith("tokamata: token_bytes: token id 1000 is outside 0..260")


def test_draw_dot_and_svg(cli, tmp_path: Path) -> None:
    result = cli("draw", "-c", "yes", "-c", "no")
    assert result.out.startswith("digraph")
    target = tmp_path / "machine.dot"
    assert cli("draw", "-r", "[ab]*", "-o", target).code == 0
    assert "doublecircle" in target.read_text()
    machine = tmp_path / "machine.fst"
    tokamata.literal("ab").to_fst().write(machine)
    assert cli("draw", machine).out.startswith("digraph")
    result = cli("draw", machine, "-c", "x")
    assert result.code == 2
    assert "got both" in result.err
    schema = tmp_path / "schema.json"
    schema.write_text('{"enum": [12, 13]}')
    assert cli("draw", "-s", schema).out == cli("draw", "-r", "1[23]").out
    assert "got both" in cli("draw", machine, "-s", schema).err
    pytest.importorskip("graphviz", reason="the draw extra is not installed")
    result = cli("draw", "-c", "a", "--title", "a" * 20000, "-o", tmp_path / "machine.svg")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert result.err.startswith("tokamata: Fst.draw: expected a title and names of at most 16,381 bytes, ")


def test_info_of_a_machine_and_a_vocabulary(cli, saved: Path, tmp_path: Path) -> None:
    machine = tmp_path / "machine.fst"
    tokamata.literal("ab").to_fst().write(machine)
    result = cli("info", machine)
    assert result.code == 0
    assert "machine.fst: machine" in result.out
    assert "states" in result.out
    assert "acceptor" in result.out
    result = cli("info", saved)
    assert "small.vocab.fst: vocabulary" in result.out


@pytest.mark.parametrize("odd", [r"\[/s]", "[/x]", "[bold]", "a[b]", "[red]q[green]", ":smile:"])
def test_what_is_printed_of_files_is_what_stands_there(cli, tmp_path: Path, odd: str) -> None:
    """Names and tokens may look like marks of the console."""
    name = odd.replace("/", "")
    path = tmp_path / f"{name}.fst"
    tokamata.Vocabulary([None, odd.encode() * 3], eos_token_ids=[0], special_tokens={odd: 0}).save(path)
    for command in ("vocab", "info"):
        result = cli(command, path)
        assert result.code == 0, result.err
        assert result.out.startswith(f"{name}.fst"), result.out
    assert f"{odd}=0" in cli("vocab", path).out
    assert common.shown(odd.encode() * 3) in cli("vocab", path).out
    assert f"special {odd}" in cli("vocab", path, "--token", 0).out
    write_artifact(path, tokamata.literal("a").to_fst().to_bytes("const"), {odd: b"x"})
    result = cli("info", path)
    assert result.code == 0
    assert f"{odd} (1 bytes)" in result.out


def test_info_of_a_damaged_vocabulary(cli, saved: Path) -> None:
    """What is wrong is said, not that it is a machine, which it also is."""
    data = bytearray(saved.read_bytes())
    data[-2000] ^= 1
    saved.write_bytes(data)
    result = cli("info", saved)
    assert (result.code, result.out) == (1, "")
    assert "small.vocab.fst: artifact: the checksum does not match, the file is damaged" in result.err


def test_info_and_draw_of_a_token_acceptor(cli, saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "tokens.fst"
    assert cli("compile", "-r", "[a-z]*", "-v", saved, "--tokens", "-o", target).code == 0
    result = cli("info", target)
    assert result.code == 0
    assert "tokens.fst: token acceptor" in result.out
    assert re.search(r"^terminals +1 *$", result.out, re.M)
    assert re.search(r"^arcs expanded +29 *$", result.out, re.M)
    assert "<[a-z]+>" in cli("draw", target).out


def test_fst_files_are_constraints(cli, tmp_path: Path) -> None:
    machine = tmp_path / "machine.fst"
    tokamata.choice(["ab", "cd"]).to_fst().write(machine)
    assert cli("check", "--fst", machine, "cd").code == 0
    assert cli("check", "--fst", machine, "ad").code == 1


def test_compile_writes_an_fst(cli, saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "answer.fst"
    result = cli("compile", "-c", "yes", "-c", "no", "-v", saved, "-o", target)
    assert (result.code, result.out) == (0, "")
    assert Fst.read(target).num_states() > 0
    assert "answer.fst: compiled constraint" in cli("info", target).out
    vocabulary = tokamata.Vocabulary.load(saved)
    state = tokamata.load(target, vocabulary).start()
    bits = np.unpackbits(state.mask().view(np.uint8), bitorder="little")
    assert set(np.flatnonzero(bits)) == {1 + ord("y"), 1 + ord("n"), 257, 258, 260}


@pytest.mark.parametrize("form", [[], ["--tokens"]])
def test_compile_writes_as_many_states_as_asked(cli, saved: Path, tmp_path: Path, form: list[str]) -> None:
    def compiled(most: int) -> Any:
        return cli("compile", "-l", "x" * 50, "-v", saved, "-o", tmp_path / "x.fst", *form, "--max-states", most)

    assert compiled(100).code == 0
    result = compiled(20)
    assert (result.code, result.out) == (1, "")
    assert "states=20 was reached; pass a larger one with --max-states or simplify the constraint" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["check", "-r", "(", "x"], 1, "tokamata: regex: "),
        (["check", "x"], 2, "--fst, --grammar and --schema, got none"),
        (["check", "-r", "a", "-c", "b", "x"], 2, "got --regex and --choice"),
        (["info", "missing.fst"], 1, "there is no file 'missing.fst'"),
        (["vocab", "missing.json"], 1, "missing.json"),
        (["bogus"], 2, "No such command 'bogus'"),
        (["sample", "-r", "a", "--bogus"], 2, "--bogus"),
        (["generate", "-m", "nowhere", "-p", "x", "-r", "a"], 1, "nowhere holds no model"),
        (["compile", "-r", "a", "-o", "x.fst"], 2, "expected --vocab"),
        (["check", "-r", "a", "--start", "b", "a"], 2, "--start names a rule of --grammar"),
        (["check", "-r", "a", "--strict", "a"], 2, "--strict is for a grammar file alone"),
        (["check", "-s", "missing.json", "1"], 1, "tokamata: missing.json: No such file or directory"),
        (["generate", "-p", "x", "-r", "a", "-n", "2"], 2, "--count is for --sampler"),
        (["generate", "-p", "x", "-r", "a", "--sample", "--sampler", "cars"], 2, "got both"),
    ],
)
def test_errors_are_one_line(cli, arguments: list[str], code: int, text: str) -> None:
    result = cli(*arguments)
    assert result.code == code
    assert text in result.err
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert result.out == ""


def test_documents_of_a_schema(cli, saved: Path, tmp_path: Path) -> None:
    schema, document = tmp_path / "person.json", tmp_path / "ada.json"
    schema.write_text('{"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]}')
    document.write_text('{"age": 36, "name": "Ada"}')  # in any order of keys
    assert cli("check", "--schema", schema, "--file", document).out == "match: 26 bytes\n"
    assert "no match: fails at byte 8" in cli("check", "-s", schema, '{"age": "36"}').out
    named = cli("check", "-s", schema, document)  # its name is no document
    assert (named.code, named.err) == (1, f"{document} is a file, too; --file reads its text\n")
    assert cli("check", "-c", "no", "nor").out.endswith('found:          "r"\n  could follow:   the end\n')
    assert cli("check", "-r", "a+", "ab" * 5000).err == ""
    for written in (
        b'{"name": "Ada"}\n',
        b'\xef\xbb\xbf{\r\n\t"age" :36.0,"name":"Ada"\r\n}\r\n',
        b' \n{   "name": ""}  ',
    ):
        document.write_bytes(written)  # valid, however it is written
        assert cli("check", "--schema", schema, "--file", document).out.startswith("match: ")
    assert cli("sample", "-s", schema, "-n", 3).out.count("\n") == 3
    target = tmp_path / "schema.fst"
    schema.write_text('{"enum": ["yes", "no"]}')
    assert cli("compile", "-s", schema, "-v", saved, "-o", target).code == 0
    assert cli("check", "--fst", target, '"no"').code == 0
    schema.write_text('{"type": "objekt"}')
    result = cli("check", "-s", schema, "1")
    assert result.code == 1
    assert result.err.startswith(f'tokamata: {schema}: json_schema: at "/type": expected one of ')


def test_what_is_no_file_stays_what_it_is(cli, saved: Path, tmp_path: Path) -> None:
    """Output goes to a pipe as it is and through a link; errors name the path that was given, and nothing is left."""
    pipe, link, real = tmp_path / "pipe", tmp_path / "link.fst", tmp_path / "real.fst"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert cli("compile", "-c", "yes", "-v", saved, "-o", pipe).code == 0
    assert pipe.is_fifo()
    data = os.read(reading, 1 << 16)
    os.close(reading)
    link.symlink_to(real)
    for command in (["compile", "-c", "yes", "-v", saved], ["vocab", saved, "-t", 0], ["draw", "-c", "yes"]):
        flag = "--save" if command[0] == "vocab" else "-o"
        assert cli(*command, flag, link).code == (1 if command[0] == "draw" else 0)  # a picture is no .fst
        nowhere = tmp_path / "nowhere" / "x.dot"
        assert (
            cli(*command, flag, nowhere).err
            == f"tokamata: {nowhere}: No such file or directory; make its folder first\n"
        )
        assert (
            cli(*command, flag, tmp_path).err
            == f"tokamata: {tmp_path}: Is a directory; pass the name of a file in it\n"
        )
        if command[0] == "compile":
            assert real.read_bytes() == data
    assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.fst", "pipe", "real.fst", "small.vocab.fst"]


def test_links_that_lead_to_themselves(cli, saved: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for target in (loop, loop / "x"):
        expected = f"tokamata: {target}: Too many levels of symbolic links\n"
        assert cli("compile", "-c", "yes", "-v", saved, "-o", target).err == expected
        assert cli("vocab", saved, "-t", 0, "--save", target).err == expected
        assert cli("draw", "-c", "yes", "-o", target, "--title", "x").err == expected
    assert cli("draw", "-c", "yes", "-o", loop).code == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["loop", "small.vocab.fst"]
    assert loop.is_symlink()


@pytest.mark.parametrize("arguments", ["grammars sql", "sample --raw -r a -n 1", "check -r a -", "--version"])
def test_streams_that_the_caller_closed(arguments: str) -> None:
    """No traceback where a stream is closed, or has another encoding."""
    call = f"{sys.executable} -m tokamata {arguments}"
    closed = subprocess.run(["bash", "-c", f"{call} <&- >&-"], capture_output=True, text=True, check=False)
    assert closed.stderr == ""
    assert closed.returncode == (1 if "check" in arguments else 0)


def test_an_encoding_without_the_character() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    call = [sys.executable, "-m", "tokamata", "check", "-r", "é+", "éx"]
    shown = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    assert (shown.returncode, shown.stderr) == (1, "")
    assert '  matched so far: "\\xe9"\n' in shown.stdout


def test_arguments_that_the_locale_did_not_decode(cli) -> None:
    """Python hands over bytes that its locale has no characters for as surrogates."""
    undecoded = "é".encode().decode("ascii", "surrogateescape")
    for option in ("-r", "-c", "-l"):
        assert cli("check", option, undecoded, undecoded).out == "match: 2 bytes\n"
        result = cli("check", option, "\udce9", "x")
        assert (result.code, result.out) == (1, "")
        assert 'expected UTF-8 text, got unexpected end of data at byte 0: "\\xe9"; write it as UTF-8' in result.err
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    call = [sys.executable, "-m", "tokamata", "check", "-r", "é+", "éx"]
    shown = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    assert (shown.returncode, shown.stderr) == (1, "")
    assert '  matched so far: "\\xe9"\n' in shown.stdout


@pytest.mark.parametrize("columns", ["0", "20"])
def test_narrow_terminals(columns: str) -> None:
    """What is shown of texts is not broken into lines; a terminal that does not know its width has one nonetheless."""
    call = [sys.executable, "-m", "tokamata", "check", "-r", "(?:abcdefghij)*", "abcdefghij" * 5 + "x"]
    environment = {**os.environ, "COLUMNS": columns}
    shown = subprocess.run(call, capture_output=True, text=True, check=False, env=environment)
    assert shown.stdout.splitlines()[1] == f'  matched so far: "{"abcdefghij" * 5}"'


def test_ctrl_c_while_the_core_works() -> None:
    """Python's own handler would not run before the core returns."""
    code = """if True:
        import signal, tokamata
        from tokamata.cli.interrupts import ended_by_ctrl_c
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background have it ignored
        with ended_by_ctrl_c():
            print("ready", flush=True)
            tokamata.regex("(.*a){40}").examples(10**6)
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, said) == (130, b"tokamata: interrupted\n")


def test_ctrl_c_that_python_hears_of() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), ended_by_ctrl_c():
            signal.raise_signal(signal.SIGINT)
            time.sleep(5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.set_wakeup_fd(-1) == -1


def test_limits(cli, tmp_path: Path, saved: Path) -> None:
    schema = tmp_path / "s.json"
    schema.write_text('{"type": "array", "items": {"type": "string", "pattern": "^[a-z]*$"}}')
    described = [["-r", "(.*a){9}"], ["-g", "json"], ["-s", schema], ["-c", "a" * 99], ["-l", "a" * 99]]
    for constraint in described:
        result = cli("check", *constraint, "--limit", "expression_nodes=10", '["a"]')
        assert (result.code, result.out) == (1, ""), constraint
        assert "the limit expression_nodes=10 was reached" in result.err
        assert "raise it: --limit expression_nodes=NUMBER\n" in result.err
        assert cli("check", *constraint, "--limit", "expression_nodes=10000000", '["a"]').err == ""
    nodes = ["--limit", "expression_nodes=10", "--limit", "seconds=0.5"]
    for command in (["diff", schema, schema], ["sample", "-s", schema], ["draw", "-r", "(.*a){9}"]):
        assert "expression_nodes=10 was reached" in cli(*command, *nodes).err
    assert "expression_nodes=10" in cli("compile", "-s", schema, "-v", saved, "-o", tmp_path / "x.fst", *nodes).err
    for wrong, reason in (
        ("nodes=3", "expected --limit NAME=NUMBER with a name of expression_nodes, "),
        ("states", "expected --limit states=NUMBER, got 'states'"),
        ("seconds=x", "expected --limit seconds=NUMBER, got 'seconds=x'"),
    ):
        result = cli("check", "-r", "a", "a", "--limit", wrong)
        assert (result.code, reason in result.err) == (2, True), result.err
    assert cli("check", "-r", "a", "a", "--limit", "states=-1").code == 1


def test_names_of_bytes() -> None:
    assert common.byte_names(b"") == ""
    assert common.byte_names(b"abcxz 0123456789\n") == "\\n  space  0-9  a-c  x  z"
    assert common.byte_names(bytes(range(0x7F, 0x100))) == "\\x7f  other than ASCII"
    assert common.shown(b'a"\xff\n') == '"a\\"\\xff\\n"'
    assert common.shown(b"\\n") == '"\\\\n"'  # no line feed
    assert common.shown("é\x8b".encode() + b"\x8b") == '"é\\u008b\\x8b"'


def test_diff(cli, tmp_path: Path) -> None:
    def schema(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    old = schema("old.json", '{"type": "object", "properties": {"a": {"type": "integer"}, "next": {"$ref": "#"}}}')
    same = schema("same.json", '{"properties": {"next": {"$ref": "#"}, "a": {"type": "integer"}}, "type": ["object"]}')
    wider = schema("wider.json", '{"type": "object", "properties": {"a": {"type": "number"}, "next": {"$ref": "#"}}}')
    other = schema("other.json", '{"type": "object", "required": ["a"]}')
    result = cli("diff", old, same)
    assert (result.code, result.out) == (0, "equal: both schemas accept the same documents\n")
    result = cli("diff", old, wider)
    assert result.code == 0
    assert result.out.startswith("compatible: the new schema accepts all that the old one accepted\n  accepted now: {")
    result = cli("diff", wider, old)
    assert result.code == 1
    assert result.out.startswith("incompatible: the new schema refuses a document of the old one\n  refused now:  {")
    result = cli("diff", old, other)
    assert result.code == 1
    assert "  refused now:  {}\n  accepted now: {" in result.out
    result = cli("diff", old, schema("bad.json", "{,}"))
    assert result.code == 2
    assert "bad.json: json_schema: line 1, column 2: expected a key in double quotes" in result.err
    linked = schema("linked.json", '{"$ref": "http://example.com/x"}')
    registry = schema("registry.json", '{"http://example.com/x": {"type": "object", "required": ["a"]}}')
    assert cli("diff", other, linked, "--registry", registry).out.startswith("equal")
    none = other.parent / "none.json"
    assert cli("diff", other, linked, "--registry", none).err == (
        f"tokamata: {none}: No such file or directory; check the path\n"
    )
    assert 'pass --registry FILE with {"http://example.com/x": its schema}' in cli("diff", other, linked).err
    assert cli("check", "--schema", linked, "--registry", registry, '{"a": 1}').out == "match: 8 bytes\n"
    assert cli("check", "--schema", linked, "--registry", registry, "{}").code == 1
    assert cli("sample", "--schema", linked, "--registry", registry, "-n", 1).out.startswith('"{')
    assert "--registry is for the references of --schema" in cli("check", "-r", "a", "--registry", registry, "a").err
    number = schema("number.json", '{"u:x": {"const": 0.1000000000000000000001}}')
    result = cli(
        "diff", schema("link.json", '{"$ref": "u:x"}'), schema("tenth.json", '{"const": 0.1}'), "--registry", number
    )
    assert (result.code, "refused now:  0.1000000000000000000001\n" in result.out) == (1, True)
    for text, reason in (
        ("[" * 100_000, "registry.json is not JSON that can be read: maximum recursion depth"),
        (
            '{"u:x": {"a": ' * 20_000 + "1" + "}}" * 20_000,
            "registry.json is not JSON that can be read: maximum recursion",
        ),
        ('{"u:x": true, "u:x": false}', "registry.json: line 1, column 15: "),
        ("[]", "registry.json: expected an object from URIs to schemas"),
    ):
        result = cli("diff", old, same, "--registry", schema("registry.json", text))
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert reason in result.err
    date = schema("date.json", '{"type": "string", "format": "date"}')
    string = schema("string.json", '{"type": "string"}')
    assert cli("diff", string, date).code == 1
    assert cli("diff", string, date, "--no-formats").out.startswith("equal")


def test_a_long_difference_is_shortened_unless_asked_for_whole(cli, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    long = "é" * 5000
    old.write_text(json.dumps({"enum": ["a", f"b{long}c"]}))
    new.write_text('{"enum": ["a"]}')
    result = cli("diff", old, new)
    assert result.code == 1
    assert f'refused now:  "b{"é" * 198} ... {"é" * 198}c"\n' in result.out
    assert "(5,004 characters, shortened in the middle; --whole shows all of them)" in result.out
    assert len(result.out) < 700
    result = cli("diff", old, new, "--whole")
    assert f'refused now:  "b{long}c"\n' in result.out
    assert "shortened" not in result.out


def test_a_difference_that_cannot_be_told_names_both_schemas_and_options_of_the_command(cli, tmp_path: Path) -> None:
    def schema(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    pair = '{"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}'
    old, unique = schema("old.json", pair), schema("unique.json", '{"type": "array", "uniqueItems": true}')
    result = cli("diff", old, unique)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        f"tokamata: {old} and {unique}: json_schema: uniqueItems at the root cannot be enforced"
    )
    assert result.err.endswith("list them, set maxItems to 1 or drop uniqueItems\n")
    text, pattern = schema("text.json", '{"type": "string"}'), schema("pattern.json", '{"format": "regex"}')
    result = cli("diff", text, pattern)
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("pass --no-formats to treat formats as annotations\n")


def test_a_schema_of_standard_input(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "whole.json"
    path.write_text('{"type": "integer"}')
    for given in (["diff", path, "-"], ["diff", "-", path], ["check", "--schema", "-", "1.5"]):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"type": "number"}')))
        result = cli(*given)
        assert (result.code, result.err) == (1 if given[1] == "-" else 0, ""), given
    for given in (["diff", "-", "-"], ["check", "--schema", "-", "-"]):
        result = cli(*given)
        assert (result.code, "standard input" in result.err) == (2, True), given


def test_grammars_are_listed_and_printed(cli) -> None:
    listed = cli("grammars")
    assert listed.code == 0
    lines = [line.split(maxsplit=2) for line in listed.out.splitlines()[1:]]
    assert [line[0] for line in lines] == list(grammars.names())
    assert all(line[1] in ("basic", "contextual", "none") and line[2] for line in lines)
    for name in grammars.names():
        assert cli("grammars", name).out == grammars.text(name)


def test_grammars_unknown(cli) -> None:
    result = cli("grammars", "cobol")
    assert result.code == 1
    assert "expected one of arithmetic, csv" in result.err


def test_errors_name_options_and_not_arguments_of_python(cli, saved: Path, tmp_path: Path) -> None:
    ranks = tmp_path / "x.tiktoken"
    ranks.write_text("YQ== 0\nYg== 1\n")
    assert "; pass --eos ID (the model's" in cli("vocab", ranks).err
    (tmp_path / "open.json").write_text('{"type": "object"}')
    result = cli("compile", "-s", tmp_path / "open.json", "-v", saved, "-o", tmp_path / "open.fst")
    assert result.code == 1
    assert 'make states without end: objects with "additionalProperties": false have none)' in result.err
    other = saved.rename(tmp_path / "small.vocab")
    assert cli("vocab", other).err == f"tokamata: {other}: an .fst file; its name has to end in .fst\n"


def test_a_pipe_is_no_file_to_seek_in(cli) -> None:
    read, write = os.pipe()
    os.write(write, tokamata.literal("ab").to_fst().to_bytes())
    os.close(write)
    result = cli("info", f"/dev/fd/{read}")
    os.close(read)
    assert result.code == 1
    assert re.fullmatch(r"tokamata: /dev/fd/\d+: cannot be read: .*not seekable.*\n", result.err)


def test_generate_looks_at_its_options_before_it_loads_a_model(cli, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    result = cli("generate", "-m", tmp_path, "-p", "x", "-r", "a", "--sampler", "best")
    assert result.code == 2
    assert "expected --sampler with one of auto, enumerate, masked, " in result.err
    result = cli("generate", "-m", tmp_path, "-p", "\udcff", "-r", "a")
    assert result.code == 1
    assert "--prompt: expected UTF-8 text" in result.err


def test_files_may_begin_with_a_byte_order_mark(cli, tmp_path: Path) -> None:
    schema, grammar = tmp_path / "s.json", tmp_path / "g.gbnf"
    schema.write_text('{"type": "integer"}', encoding="utf-8-sig")
    grammar.write_text('root ::= "a" | "b" root\n', encoding="utf-8-sig")
    assert cli("check", "--schema", schema, "12").code == 0
    assert cli("diff", schema, schema).code == 0
    assert cli("check", "-g", grammar, "ba").code == 0
    assert "deterministic: 1 rules" in cli("check", grammar).out
