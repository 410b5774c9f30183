"""``python -m tokamata`` and the command ``tokamata``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; names the missing extra when rich or typer is not installed."""
    try:
        import rich
        import typer
    except ImportError as error:
        raise SystemExit(
            f"tokamata: the command line needs {error.name or 'typer'}: pip install 'tokamata[cli]'"
        ) from None
    del rich, typer
    from .cli import run

    run()


if __name__ == "__main__":
    main()
