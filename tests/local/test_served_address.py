"""Links that commands print lead to the server that is running."""

from __future__ import annotations

import socket
from pathlib import Path

from quarry.local.served_address import FILE, noted, served_address


def test_the_address_in_use_is_known_while_the_server_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with noted(tmp_path, address):
            assert served_address(tmp_path) == address
        assert served_address(tmp_path) is None


def test_a_killed_server_leaves_no_link(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (tmp_path / FILE).write_text(f"http://127.0.0.1:{port}")
    assert served_address(tmp_path) is None
