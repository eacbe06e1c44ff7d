"""The `aws` commands of the pages, held to the services' own models, from which the AWS CLI makes its commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

import botocore.session
import pytest
from botocore import xform_name
from botocore.model import OperationModel, Shape

from tests.deployed.template import ROOT

OF_EVERY_COMMAND = {"--cli-binary-format", "--cli-read-timeout", "--output", "--query", "--region"}
OF_S3 = {"cp": {"--metadata"}, "rm": {"--recursive"}, "ls": set[str]()}
"""Commands that the CLI has beside the services' operations, with the options of them that we use."""

_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")


def commands(page: str) -> Iterator[list[str]]:
    """The words of each `aws …` in the code of a page, without `aws`."""
    blocks = [block.replace("\\\n", " ") for block in _FENCE.findall(page)]
    spans = [" ".join(span.split()) for span in _SPAN.findall(_FENCE.sub("", page))]
    for line in [*(line for block in blocks for line in block.splitlines()), *spans]:
        if re.search(r"\baws [a-z]", line):
            yield from _in_line(line)


def _in_line(line: str) -> Iterator[list[str]]:
    words: list[str] | None = None
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for token in [*lexer, ";"]:
        if not token.strip("();<>|&"):
            if words:
                yield words
            words = None
        elif token == "aws":
            words = []
        elif words is not None:
            words.append(token)


@cache
def operations(service: str) -> dict[str, OperationModel]:
    model = botocore.session.get_session().get_service_model(service)
    return {xform_name(name, "-"): model.operation_model(name) for name in model.operation_names}


def fault(words: list[str]) -> str | None:
    """What the AWS CLI v2 would refuse in a command, if anything."""
    service, name, *rest = words
    options, positional = _read(rest)
    if service == "s3":
        unknown = options.keys() - OF_S3[name] - OF_EVERY_COMMAND
        return f"s3 {name} has no {unknown}" if unknown else None
    operation = operations(service).get(name)
    if operation is None:
        return f"{service} has no {name}"
    input_shape = operation.input_shape
    shapes = {_option(name): shape for name, shape in input_shape.members.items()} if input_shape else {}
    required = {_option(name) for name in input_shape.required_members} if input_shape else set()
    if unknown := options.keys() - shapes.keys() - OF_EVERY_COMMAND:
        return f"{name} has no {unknown}"
    if rest and required - options.keys():
        return f"{name} needs {required - options.keys()}"
    if len(positional) != int(operation.has_streaming_output):  # the file that takes what comes
        return f"{name} takes no {positional}"
    if any(shapes[each].type_name == "blob" for each in options.keys() & shapes.keys()) and (
        options.get("--cli-binary-format") != "raw-in-base64-out"
    ):
        return f"{name} takes base64 unless told otherwise"
    wrong = (
        f"{option}: {told}"
        for option in options
        if option in shapes and (told := _wrong(options[option], shapes[option]))
    )
    return next(wrong, None)


def _option(member: str) -> str:
    return f"--{xform_name(member, '-')}"


def _read(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Options with their values, several joined by spaces, and what belongs to none."""
    options: dict[str, str] = {}
    positional: list[str] = []
    last = None
    for word in words:
        if word.startswith("--"):
            last = word
            options[word] = ""
        elif last and (not options[last] or last == "--user-attributes"):
            options[last] = f"{options[last]} {word}".strip()
        elif word != "…":
            positional.append(word)
    return options, positional


def _wrong(value: str, shape: Shape) -> str | None:
    if shape.type_name == "list":
        shape = shape.member  # type: ignore[attr-defined]
    if shape.type_name == "structure":
        keys = set(re.findall(r"(\w+)=", value))
        return None if keys and keys <= shape.members.keys() else f"{keys} of {set(shape.members)}"  # type: ignore[attr-defined]
    choices = getattr(shape, "enum", None)
    return f"{value} is none of {choices}" if choices and value not in choices else None


def test_every_command_of_the_pages_is_one_of_the_cli() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    found = [words for page in pages for words in commands(page.read_text())]
    assert len(found) > 15
    assert {shlex.join(words): told for words in found if (told := fault(words))} == {}


@pytest.mark.parametrize(
    "command",
    [
        "lambda invoke --function-name f --payload {} /dev/stdout",
        "lambda invoke --function-name f --invocation-type Later /dev/stdout",
        "s3 cp a b --meta x=y",
    ],
)
def test_what_the_cli_would_refuse_is_noticed(command: str) -> None:
    assert fault(command.split())
