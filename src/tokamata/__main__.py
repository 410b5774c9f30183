"""``python -m tokamata``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; names the missing extra when rich or typer is not installed."""
    raise SystemExit("tokamata: the command line needs the extra: pip install 'tokamata[cli]'")


if __name__ == "__main__":
    main()
