"""`make smoke` against the emulated stack: a healthy one passes, and each check can fail."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.deployed.conftest import Start
from tools import smoke
from tools.rehearsal.emulated_stack import emulated_stack
from tools.rehearsal.template import ROOT


@pytest.fixture
def url(start: Start) -> Iterator[str]:
    without_model = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "ALLOWED_ORIGIN": "*"}
    functions = {name: start(ROOT / "functions" / name, **without_model).api for name in ("search", "console")}
    with emulated_stack(functions) as url:
        yield url


def test_a_healthy_stack_passes_every_check_that_needs_no_account(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert smoke.main(url, "me") == 0
    assert capsys.readouterr().out.splitlines()[-1] == '{"ok": 8, "skipped": 5}'


def test_a_broken_stack_fails_every_check_that_needs_no_account() -> None:
    broken = httpx2.MockTransport(lambda _: httpx2.Response(500, text="broken", headers={"content-type": "text/plain"}))
    with httpx2.Client(base_url="http://stack.example", timeout=60, transport=broken) as http:
        found = list(smoke.outcomes(smoke.Stack(http, "me", "quarry", None)))
    assert {each.state for each in found} == {"failed", "skipped"}
    assert len([each for each in found if each.state == "failed"]) == 9
