"""The command line: one module per command."""

from .app import app, run

__all__ = ["app", "run"]
