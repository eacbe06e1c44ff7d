"""A front door that cuts connections: what a lost network does to a stream."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

CHUNK = 256
"""Small, so that a cut leaves much behind it unread."""


class CuttingDoor:
    """Forwards to a server. Of each connection in turn, `cuts` says which text of the answer it is cut behind; those after
    these are left alone.
    """

    def __init__(self, target: str, cuts: list[bytes]) -> None:
        parts = urlsplit(target)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self._cuts = cuts
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}{parts.path}"
        self.made = 0

    def serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self.listener.accept()
                cut = self._cuts[self.made] if self.made < len(self._cuts) else None
                self.made += 1
                server = socket.create_connection(self._target)
                threading.Thread(target=_forward, args=(client, server), daemon=True).start()
                threading.Thread(target=_answer, args=(server, client, cut), daemon=True).start()


def _forward(client: socket.socket, server: socket.socket) -> None:
    with suppress(OSError), server:
        while data := client.recv(CHUNK):
            server.sendall(data)


def _answer(server: socket.socket, client: socket.socket, cut: bytes | None) -> None:
    seen = b""
    with suppress(OSError), client, server:
        while data := server.recv(CHUNK):
            seen += data
            if cut is not None and cut in seen:
                end = seen.index(cut) + len(cut) - (len(seen) - len(data))
                client.sendall(data[: max(0, end)])
                break
            client.sendall(data)
        # closing alone would not wake who still reads from them
        for each in (client, server):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(target: str, *cuts: bytes) -> Iterator[CuttingDoor]:
    """Such a door to `target`."""
    door = CuttingDoor(target, [*cuts])
    thread = threading.Thread(target=door.serve, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        with suppress(OSError):
            door.listener.shutdown(socket.SHUT_RDWR)
        door.listener.close()
        thread.join()
