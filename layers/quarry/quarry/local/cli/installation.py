"""Commands about this installation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from quarry.local.cli.parsing import DONE, Arguments, Commands, add, add_group, add_json, status


def _doctor(given: Arguments) -> int:
    from quarry.local.doctor import examine

    return status(examine(as_json=given.json))


def _show_config(given: Arguments) -> int:
    from quarry.local.config import show_settings

    show_settings(given.dotenv, as_json=given.json)
    return DONE


def _completion(given: Arguments) -> int:
    import shtab

    from quarry.local.cli import parser

    commands = parser()
    for action in _actions(commands):
        if action.type is Path or action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
    print(shtab.complete(commands, given.shell))
    return DONE


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)


def add_to(commands: Commands) -> None:
    doctor = add(commands, "doctor", _doctor, "check everything here and say what to do", "quarry doctor")
    add_json(doctor)
    actions = add_group(
        commands,
        "config",
        "show the settings in force",
        "Show the settings in force. docs/settings.md describes them.",
        "quarry config show",
    )
    summary = "list every setting, its value and where it comes from; secrets are hidden"
    add_json(add(actions, "show", _show_config, summary, "quarry config show"))
    summary = "print what a shell reads to complete commands"
    completion = add(commands, "completion", _completion, summary, "quarry completion bash")
    completion.epilog = (
        "example:\n  quarry completion bash > ~/.local/share/bash-completion/completions/quarry\n"
        "  quarry completion zsh > a file _quarry in a folder of $fpath\n"
        "  quarry completion fish > ~/.config/fish/completions/quarry.fish"
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="which")
