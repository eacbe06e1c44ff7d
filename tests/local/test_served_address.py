"""Links that commands print lead to the server that is running."""

from __future__ import annotations

import socket
from pathlib import Path

from quarry.local.config import FILE, noted, served_address


def test_a_link_leads_to_the_server_that_listens_and_none_is_left_by_one_that_was_killed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with noted(tmp_path, address):
            assert served_address(tmp_path) == address
        assert served_address(tmp_path) is None
    (tmp_path / FILE).write_text(address)
    assert served_address(tmp_path) is None
