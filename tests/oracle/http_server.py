"""HttpServer: `tokamata serve` on a free port of this machine, in a thread, with a client of the openai package."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import openai
import uvicorn

from tokamata.serve import ServerLimits, create_app


class HttpServer:
    """Serves a model until it is closed; ``url`` is the root, ``address`` the host and port."""

    def __init__(self, model: Any, limits: ServerLimits, timeout: float) -> None:
        self.model = model
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.address = self.socket.getsockname()
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self.server = uvicorn.Server(uvicorn.Config(create_app(model, limits), log_level="warning"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.client = openai.OpenAI(base_url=f"{self.url}/v1", api_key="none", max_retries=0, timeout=timeout)

    def close(self) -> None:
        """End the server; fails where it does not end."""
        self.client.close()
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        self.socket.close()
