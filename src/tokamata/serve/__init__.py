"""serve: an OpenAI-compatible server for one model on one machine, whose answers obey what the request asks for."""

try:
    from .app import create_app
    from .limits import ServerLimits
    from .model import Model, Run, TransformersModel
    from .request import BadRequest
except ImportError as error:  # pydantic reads requests
    raise ImportError(f"serve: {error}; install the extra: pip install 'tokamata[serve]'") from error

__all__ = ["BadRequest", "Model", "Run", "ServerLimits", "TransformersModel", "create_app"]
