"""`quarry completion SHELL`: what a shell reads to complete commands, options and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import shtab


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for `shell`."""
    for action in _actions(parser):
        if action.type is Path or action.metavar == "FILE":
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Every argument of the parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
