"""The notices name all third-party work that is distributed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTICE = (ROOT / "NOTICE").read_text()
OTHER_SYSTEMS = re.compile(r"sys_platform == '(?:win32|emscripten)'")

_, _, LAYER = NOTICE.partition("What the Lambda layers hold")


def test_every_package_of_the_layers_is_named() -> None:
    lines = [line for pins in ROOT.glob("layers/*/requirements.txt") for line in pins.read_text().splitlines()]
    pinned = {line.partition("==")[0] for line in lines if re.match(r"\w", line) and not OTHER_SYSTEMS.search(line)}
    assert len(pinned) > 20
    assert pinned <= set(re.findall(r"[\w-]+", LAYER))


@pytest.mark.parametrize("path", re.findall(r"^(layers/\S+)", NOTICE, re.MULTILINE))
def test_everything_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_everything_vendored_is_named() -> None:
    vendored = (ROOT / "layers/quarry/quarry/page/assets/vendor").iterdir()
    assert [path.name for path in vendored if f"vendor/{path.name}\n" not in NOTICE] == []
