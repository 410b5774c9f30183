"""What README and tutorial show is run here, and the examples on something small."""

from __future__ import annotations

import importlib.util
import json
import re
import string
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from oracle.packages import vocabulary_file
from oracle.tiny_model import byte_tokenizer, save_tiny_model

import tokamata

ROOT = Path(__file__).resolve().parents[2]


def blocks(path: str) -> list[str]:
    found = re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(encoding="utf-8"), re.S)
    assert found, f"{path} has no example"
    return found


def example(name: str) -> ModuleType:
    path = ROOT / "examples" / f"{name}.py"
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module


@pytest.fixture(scope="module")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random model with a byte-level tokenizer, saved as a model folder."""
    tokenizer = byte_tokenizer(merges=[("1", c) for c in string.digits])
    return save_tiny_model(tmp_path_factory.mktemp("model"), tokenizer, size=300)


def test_the_readme_example_runs(small_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("README.md")
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 15
    names = {"folder": str(small_model)}
    exec(compile(code, "README.md", "exec"), names)
    written = capsys.readouterr().out.strip()
    assert re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])|unknown", written), written


def test_the_tutorial_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile("\n".join(blocks("docs/tutorial.md")), "tutorial.md", "exec"), {"__name__": "tutorial"})
    exec(compile("\n".join(blocks("docs/grammars.md")), "grammars.md", "exec"), {"__name__": "grammars"})
    exec(compile("\n".join(blocks("docs/chat.md")), "chat.md", "exec"), {"__name__": "chat"})
    exec(compile("\n".join(blocks("docs/table1.md")), "table1.md", "exec"), {"__name__": "table1"})
    exec(compile("\n".join(blocks("docs/dynamic.md")), "dynamic.md", "exec"), {"__name__": "dynamic"})
    exec(compile("\n".join(blocks("docs/reference.md")), "reference.md", "exec"), {"__name__": "reference"})
    exec(compile("\n".join(blocks("docs/sampling.md")), "sampling.md", "exec"), {"__name__": "sampling"})
    written: dict[str, str] = {"__name__": "yaml"}
    exec(compile("\n".join(blocks("docs/yaml.md")), "yaml.md", "exec"), written)
    assert f"```yaml\n{written['text'].rstrip()}\n```" in (ROOT / "docs/yaml.md").read_text("utf-8")
    assert "9" in capsys.readouterr().out


def test_the_page_about_python_types_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("python_types")  # classes look for their annotations there
    monkeypatch.setitem(sys.modules, module.__name__, module)
    code = "\n".join(blocks("docs/python_types.md"))
    exec(compile(code, "python_types.md", "exec", dont_inherit=True), vars(module))


def test_the_page_about_serving_runs(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With models, requests and scores of somebody who reads it."""
    import functools

    import torch
    from tokamata.decode import BatchState, HostMasks
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.generation import ContinuousBatchingConfig

    few = functools.partial(ContinuousBatchingConfig, num_blocks=16, max_batch_tokens=64)
    monkeypatch.setattr("transformers.generation.ContinuousBatchingConfig", few)
    monkeypatch.chdir(small_model)
    tokenizer = AutoTokenizer.from_pretrained(small_model)
    constraint = tokamata.choice(["yes", "no"])
    vocabulary = tokamata.Vocabulary.from_transformers(tokenizer, size=300)
    automaton = tokamata.compile(constraint, vocabulary)
    names: dict[str, Any] = {
        "automata": [automaton, tokamata.compile(tokamata.regex("[a-z]{3}"), vocabulary)],
        "automaton": automaton,
        "constraint": constraint,
        "encode": lambda text: tokenizer.encode(text, add_special_tokens=False),
        "logits": torch.zeros(2, 300),
        "model": AutoModelForCausalLM.from_pretrained(small_model),
        "prompt_ids": tokenizer.encode("Is it? ye"),
        "rows": 2,
        "state": automaton.start(),
        "token_ids": [],
        "vocabulary": vocabulary,
    }
    rows, text, canonical, requests, device, beside = blocks("docs/serving.md")
    first = names["encode"]("y")[0]
    exec(compile(rows, "serving.md", "exec"), names | {"token_ids": [first, -1]})
    names["state"].advance(first)
    exec(compile(text, "serving.md", "exec"), names | {"token_ids": [first]})
    exec(compile(canonical, "serving.md", "exec"), names)
    exec(compile(requests, "serving.md", "exec"), names)
    try:
        written = names["manager"].get_result(timeout=20).generated_tokens
    finally:
        names["manager"].stop(block=True)
    assert constraint.accepts(tokenizer.decode(written, skip_special_tokens=True))
    exec(
        compile(device.replace('"cuda"', '"cpu"'), "serving.md", "exec"),
        names | {"token_ids": torch.tensor([first] * 2)},
    )
    batch = BatchState([automaton.start(), automaton.start()])
    with HostMasks(batch, "cpu", 300) as host:
        loop = {"forward": lambda tokens: torch.zeros(2, 300), "tokens": None, "written": [first, -1]}
        loop |= {"batch": batch, "host": host}
        exec(compile(beside, "serving.md", "exec"), loop)
    for row, text_before in ((1, []), (0, [first])):
        state = automaton.start()
        for token in text_before:
            state.advance(token)
        assert state.allows(int(loop["written"][row]))


def test_links_in_the_documents_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_demo_on_a_small_model(
    small_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example("model")
    demo = example("demo")
    questions = [
        demo.Question("a year", "In what year? ", tokamata.regex("19[0-9]{2}")),
        demo.Question("a choice", "Which? ", tokamata.choice(["yes", "no"])),
    ]
    monkeypatch.setattr(demo, "QUESTIONS", questions)
    monkeypatch.setattr(sys, "argv", ["demo.py", "--model", str(small_model)])
    demo.main()
    assert "Every constrained text is a member" in capsys.readouterr().out


def test_the_memory_benchmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
    memory = example("benchmarks/memory")
    monkeypatch.setattr(sys, "argv", ["memory.py", "--repeat", "1", str(vocabulary_file("mistral"))])
    memory.main()
    row = capsys.readouterr().out.splitlines()[-2].split("│")
    assert [row[1].strip()[:8], row[2].strip()] == ["mistral_", "32,768"]
    assert all(0 < float(cell) < 1000 for cell in row[3:-1])


@pytest.mark.parametrize(
    "name",
    "masks states first_mask json_schema algebra memory terminals grammar chat python_types".split(),
)
def test_the_benchmarks_run_quickly(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
    figures, plot = tmp_path / "figures.csv", tmp_path / "plot.svg"
    monkeypatch.setattr(sys, "argv", [name, "--quick", "--csv", str(figures), "--plot", str(plot)])
    example(f"benchmarks/{name}").main()
    assert "failed" not in capsys.readouterr().out
    assert len(figures.read_text(encoding="utf-8").splitlines()) > 1
    assert plot.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("name", ["batch", "device"])
def test_the_benchmarks_of_serving_run_quickly(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
    figures = tmp_path / "figures.csv"
    monkeypatch.setattr(sys, "argv", [name, "--quick", "--repeat", "1", "--csv", str(figures)])
    example(f"benchmarks/{name}").main()
    assert "µs" in capsys.readouterr().out
    assert len(figures.read_text(encoding="utf-8").splitlines()) > 1


def test_the_benchmark_of_generation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], small_model: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
    asked = ["--model", str(small_model), "--tokens", "6", "--samples", "1", "--max-tokens", "110"]
    monkeypatch.setattr(sys, "argv", ["generation.py", *asked])
    example("benchmarks/generation").main()
    shown = capsys.readouterr().out
    assert "masks beside the model" in shown
    assert "constrained" in shown


def test_the_picture_shows_both_machines() -> None:
    text = example("picture").picture()
    assert "yes" in text.split("the same over tokens")[1]
    assert 'label = "(yes|no)!? over bytes"' in text


def test_without_graphviz_a_picture_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"needs (Graphviz's program dot|the graphviz package)"):
        example("picture").svg("digraph {}")


def test_the_pictures_of_named_groups() -> None:
    """Each row has a picture of its token acceptor, and the document shows it."""
    table = example("table1")
    shown = (ROOT / "docs" / "table1.md").read_text(encoding="utf-8")
    for name, (pattern, texts) in table.ROWS.items():
        assert f"(?P<{name}>" in pattern
        states = tokamata.compile(tokamata.regex(pattern), table.vocabulary(texts)).to_fst().num_states()
        assert table.picture(name).count("circle") == states
        assert f"](table1/{name.lower()}.svg)" in shown
        picture = (ROOT / "docs" / "table1" / f"{name.lower()}.svg").read_text(encoding="utf-8")
        assert picture.count('class="node"') == states, f"{name}: run examples/table1.py"


@pytest.mark.filterwarnings("error::FutureWarning")
def test_the_plain_loop_on_a_small_model(
    small_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example("model")
    module = example("plain_loop")
    monkeypatch.setattr(sys, "argv", ["plain_loop.py", str(small_model)])
    module.main()
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"name", "born"}
    assert isinstance(found["born"], int)


def test_generate_on_a_small_model(small_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from tokamata.cli import common, run

    common.out.file, common.errors.file = sys.stdout, sys.stderr
    with pytest.raises(SystemExit) as stopped:
        run(["generate", "-m", str(small_model), "-p", "Which? ", "-c", "yes", "-c", "no"])
    captured = capfd.readouterr()
    assert stopped.value.code == 0
    assert captured.out.strip() in {"yes", "no"}
    assert re.search(r"tokens: model [\d.]+ ms, masks [\d.]+ ms each", captured.err)


def test_attributes_of_live_objects(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    attributes = example("attributes")
    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["attributes.py"])
    attributes.main()
    lines = re.findall(r"monitored +print\((\S+)\)", capsys.readouterr().out)
    assert len(lines) == len(attributes.PROMPTS)
    for chain in lines:
        attributes.lookup(attributes.SCOPE, chain)
    prompt = "print(order."
    vocabulary = tokamata.Vocabulary([None, *(bytes([b]) for b in range(256))], eos_token_ids=[0])
    automaton = tokamata.compile(attributes.line(attributes.SCOPE, prompt), vocabulary)
    assert automaton.accepts("customer.address.town)\n")
    assert automaton.accepts("due_date.year, 2)\n")
    assert not automaton.accepts("customer.town)\n")
    assert not automaton.accepts("email)\n")


def test_a_missing_model_is_told() -> None:
    with pytest.raises(SystemExit, match="holds no model"):
        example("model").model_folder("nowhere")


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tokamata.cli.common import cache_folder

    monkeypatch.setenv("TOKAMATA_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("TOKAMATA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "tokamata"


@pytest.mark.slow
@pytest.mark.model
def test_the_converted_model_has_the_vocabulary_of_the_file() -> None:
    model = example("model")
    folder = model.model_folder()
    _, tokenizer, vocabulary = model.load(folder)
    own = tokamata.Vocabulary.load(folder / "gguf.vocab.fst")
    assert len(own) == len(vocabulary)
    assert all(own.token_bytes(i) == vocabulary.token_bytes(i) for i in range(len(own)))
    for text in ["Hello world", "  a\n\tb", "日本語 🦜", '{"a": [1, 2]}']:
        ids = tokenizer(text, add_special_tokens=False).input_ids
        assert b"".join(vocabulary.token_bytes(i) or b"" for i in ids).decode() == text
