"""``tokamata generate --sampler`` on a tiny model with a byte-level tokenizer, and folders that hold no whole model."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from oracle.tiny_model import byte_tokenizer, save_tiny_model

from tokamata.cli import common, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model"), byte_tokenizer())


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    for console, stream in ((common.out, sys.stdout), (common.errors, sys.stderr)):
        console.file = stream
        console.width = 200
    with pytest.raises(SystemExit) as stopped:
        run([str(a) for a in arguments])
    shown = capsys.readouterr()
    return int(stopped.value.code or 0), shown.out, shown.err


@pytest.mark.parametrize(("sampler", "used"), [("auto", "enumerate"), ("cars", "cars"), ("smc", "smc")])
def test_samples_with_their_log_probabilities(
    folder: Path, capsys: pytest.CaptureFixture[str], sampler: str, used: str
) -> None:
    arguments = ["generate", "-m", folder, "-p", "Is it? ", "-c", "yes", "-c", "no", "--max-tokens", 8]
    code, out, err = call(capsys, *arguments, "--sampler", sampler, "-n", 6)
    assert code == 0, err
    lines = out.splitlines()
    assert len(lines) == 6
    assert all(float(line.split()[0]) < 0 and line.split()[1] in ("yes", "no") for line in lines)
    assert f"{used}: " in err
    assert "log Z = -" in err


@pytest.mark.parametrize("more", [(), ("--sampler", "auto")])
def test_texts_are_written_as_they_are(folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    text = "a\tb\x08\rc " + "d" * 90
    code, out, err = call(capsys, "generate", "-m", folder, "-p", "x", "-l", text, "--max-tokens", 200, *more)
    assert (code, out) == (0, text + "\n"), err


def test_unknown_samplers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = call(capsys, "generate", "-m", folder, "-p", "x", "-c", "yes", "--sampler", "magic")
    assert code == 2
    assert "expected --sampler with one of auto, enumerate, " in err


@pytest.mark.parametrize("seed", [-3, 2**70])
def test_a_seed_may_be_any_number(folder: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    for how in ("--sample", "--sampler=cars"):
        code, out, err = call(capsys, "generate", "-m", folder, "-p", "x", "-r", "[ab]", "--seed", seed, how)
        assert code == 0, err
        assert out.strip() in ("a", "b")


def last_line(text: str) -> str:
    """The last one: transformers may show that it loads weights before."""
    return text.splitlines()[-1]


@pytest.mark.parametrize("more", [(), ("--sampler", "auto")])
def test_a_prompt_without_tokens(folder: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    code, out, err = call(capsys, "generate", "-m", folder, "-p", "", "-c", "yes", *more)
    assert (code, out, "Traceback" in err) == (1, "", False)
    assert last_line(err).startswith("tokamata: generate: expected a prompt of at least one token, got '', to which")


@pytest.mark.parametrize("device", ["banana", "cuda:99"])
def test_devices_that_there_are_not(folder: Path, capsys: pytest.CaptureFixture[str], device: str) -> None:
    code, out, err = call(capsys, "serve", "-m", folder, "--device", device)
    assert (code, out, "Traceback" in err) == (1, "", False)
    assert last_line(err).startswith(f"tokamata: serve: expected a device that holds the model, got '{device}': ")


def test_the_name_of_a_served_model_is_shown_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uvicorn.run", lambda app, **options: None)
    code, _, err = call(capsys, "serve", "-m", folder, "--name", "[/x]")
    assert code == 0
    assert last_line(err).startswith("[/x]: ")


DAMAGED = {  # files and their texts, and what the error says of them
    "tokenizer": (
        {"tokenizer.json": "{}", "config.json": "{}"},
        r"tokenizer that transformers loads, got KeyError: 'added_tokens'; tokamata vocab \S+/damaged says more",
    ),
    "no JSON": (
        {"tokenizer.json": "["},
        r"tokenizer that transformers loads, got \w+: .+; tokamata vocab \S+ says more",
    ),
    "config": (
        {"config.json": "{}"},
        r"model that transformers loads, got ValueError: Unrecognized model in .+; check config\.json and .+ weights",
    ),
    "weights": (
        {"model.safetensors": "x"},
        r"model that transformers loads, got SafetensorError: .+; check config\.json and the files of weights",
    ),
}


@pytest.mark.parametrize("command", [["generate", "-p", "x", "-c", "yes"], ["serve"]], ids=["generate", "serve"])
@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_models(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: list[str], case: str
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged)
    files, expected = DAMAGED[case]
    for name, text in files.items():
        (damaged / name).write_text(text)
    code, out, err = call(capsys, *command, "-m", damaged)
    assert (code, out) == (1, "")
    assert re.fullmatch(rf"tokamata: {command[0]}: {damaged}: expected a {expected}", err.splitlines()[-1])
