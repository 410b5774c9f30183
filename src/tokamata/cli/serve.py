"""``tokamata serve``: an OpenAI-compatible server on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .common import cache_folder, errors, examples, working

EXAMPLES = examples(
    r"tokamata serve -m model/",
    r"tokamata serve -m model/ --port 9000 --device cuda",
)


def command(
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="A transformers model folder; default: the model that make demo converted."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Its name for clients; default: the folder's.")] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port to listen on.")] = 8000,
    device: Annotated[str, typer.Option("--device", help="Where the model runs: cpu, cuda, mps.")] = "cpu",
    tool_convention: Annotated[
        str | None,
        typer.Option(
            "--tool-convention",
            help="How the model writes tool calls: hermes, llama3, mistral, ...; default: told from its chat template.",
        ),
    ] = None,
    new_tokens: Annotated[int, typer.Option("--new-tokens", min=1, help="The most tokens of one answer.")] = 1024,
    running: Annotated[int, typer.Option("--running", min=1, help="Answers that are written in turns.")] = 8,
    waiting: Annotated[int, typer.Option("--waiting", min=1, help="Answers that wait; more get status 429.")] = 64,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.01, help="Processor time to build a constraint, and for one mask.")
    ] = 5.0,
    choices: Annotated[int, typer.Option("--choices", min=1, help="The most answers (n) of one request.")] = 8,
    constraints: Annotated[
        int, typer.Option("--constraints", min=1, help="Compiled constraints that are kept for later requests.")
    ] = 128,
    source_bytes: Annotated[
        int, typer.Option("--source-bytes", min=1, help="The largest schema, grammar or pattern.")
    ] = 4 << 20,
    body_bytes: Annotated[int, typer.Option("--body-bytes", min=1, help="The largest request.")] = 8 << 20,
) -> None:
    """Serve a model with OpenAI's API; answers obey response_format, tools, regex, grammar and choice."""
    try:
        import uvicorn

        from ..serve import ServerLimits, TransformersModel, create_app
    except ImportError as error:
        raise ImportError(f"serve: {error}; install the extra: pip install 'tokamata[serve]'") from error
    limits = ServerLimits(
        body_bytes=body_bytes,
        source_bytes=source_bytes,
        seconds=seconds,
        new_tokens=new_tokens,
        choices=choices,
        running=running,
        waiting=waiting,
        constraints=constraints,
    )
    with working("loading the model"):
        loaded = TransformersModel(
            model or cache_folder() / "gemma-3-270m", name=name, device=device, tool_convention=tool_convention
        )
        app = create_app(loaded, limits)
    errors.print(f"{loaded.name}: {len(loaded.vocabulary):,} tokens, {loaded.context:,} of context")
    uvicorn.run(app, host=host, port=port, log_level="info")
