"""What a command takes from its surroundings: `.env`, colours, a browser, a shell; and `quarry config show`, which tells."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from quarry.local.config import HIDDEN, take_dotenv
from tests.local.test_cli import NOWHERE, installed_quarry, quarry
from tests.local.test_server import served
from tests.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands are called in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(**variables: str) -> dict[str, tuple[str | None, str]]:
    """What `quarry config show` tells of each setting: its value, and where that comes from."""
    done = installed_quarry("config", "show", "--json", **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return {each["name"]: (each["value"], each["source"]) for each in json.loads(done.stdout)["settings"]}


class TestDotenv:
    def test_the_environment_wins_over_the_file_and_the_file_over_the_default(self, folder: Path) -> None:
        (folder / ".env").write_text("RUN_LOG_DAYS=7\nexport LOG_LEVEL='ERROR'\nANSWER_LIFETIME_DAYS=\n# a comment\n")
        settings = shown(LOG_LEVEL="DEBUG")
        assert settings["RUN_LOG_DAYS"] == ("7", ".env")
        assert settings["LOG_LEVEL"] == ("DEBUG", "environment")
        assert settings["ANSWER_LIFETIME_DAYS"] == ("30", "default")

    def test_a_secret_of_the_environment_wins_however_it_is_given(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "environ", {"DATABASE_URL_FILE": "/run/secrets/url"})
        (folder / ".env").write_text(f"DATABASE_URL={NOWHERE}\n")
        assert take_dotenv() == set()


class TestConfigShow:
    def test_secrets_are_hidden(self, folder: Path) -> None:
        done = installed_quarry(
            "config",
            "show",
            DATABASE_URL=NOWHERE,
            OPENAI_API_KEY="sk-hunter2",
            OPENAI_BASE_URL="http://me:hunter2@host/v1",
        )
        assert done.returncode == 0
        assert "hunter2" not in done.stdout
        lines = {line.split()[0]: line.split() for line in done.stdout.splitlines()}
        assert lines["DATABASE_URL"] == ["DATABASE_URL", "environment", HIDDEN]
        assert lines["OPENAI_BASE_URL"][-1] == "http://***@host/v1"


def test_a_shell_completes_commands_and_options() -> None:
    script = quarry("completion", "bash").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    for words, completed in (
        ("quarry doc", "doctor"),
        ("quarry load --skip", "--skip-invalid"),
        ("quarry credits g", "grant"),
    ):
        place = str(len(words.split()) - 1)
        done = installed_quarry(_QUARRY_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=place)
        assert done.stdout == f"plain,{completed}\n"


def test_the_page_is_opened_once_the_server_answers(sample_url: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {told}.part && mv {told}.part {told}\n')
    browser.chmod(0o755)
    with served("serve", "--open", DATABASE_URL=sample_url, BROWSER=f"{browser} %s") as running:
        wait_until(told.exists)
        assert told.read_text().strip() == running.url
