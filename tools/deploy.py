"""Asks what a deployment has to be told, and keeps the answers in samconfig.toml, where `sam deploy` reads them: `make deploy`.

    python -m tools.deploy ENVIRONMENT ARCHITECTURE

`sam deploy --guided` asks for every parameter of the template; here a first deployment is asked for what only its owner knows.
All else has a default, and stands in samconfig.toml where it has another value.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from samcli.cli.types import CfnParameterOverridesType  # type: ignore[import-untyped]
from samcli.lib.config.samconfig import SamConfig  # type: ignore[import-untyped]
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]

NONE = "none"
"""What is typed to take an answer back, or to give none."""

QUESTIONS = {
    "stack_name": "Name of the stack",
    "region": "Region of AWS",
    "DatabaseSecretArn": "Your own Postgres: the ARN of a secret with its URL; none: an Aurora is made",
    "VpcId": "VPC for the functions, where the database is in one; none: one is made for Aurora",
    "SubnetIds": "Private subnets of that VPC, two or more, with commas between",
    "models": "Models: bedrock, or the ARN of a secret with a key for OpenAI; none: the small local one that embeds",
    "AlarmTopicArn": "SNS topic that hears of alarms: its ARN; none: they show in CloudWatch",
}
"""All that is asked, in this order; the subnets only of a VPC that is named."""

PARAMETERS = ("DatabaseSecretArn", "VpcId", "SubnetIds", "ModelProvider", "OpenAISecretArn", "AlarmTopicArn")
"""The template's parameters that the answers set."""

# The rest of what `sam deploy` must be told, in an environment that samconfig.toml does not have yet.
_FOR_SAM = {"capabilities": "CAPABILITY_IAM", "resolve_s3": True, "confirm_changeset": True}

# A function's name is the stack's with "-cache-lookup" behind, and has 64 characters at most.
_STACK_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]{0,50}")
_REGION = re.compile(r"[a-z]{2,}(-[a-z]+)+-\d")
_SUBNETS = re.compile(r"subnet-[0-9a-f]+(,subnet-[0-9a-f]+)+")

Declared = Mapping[str, Mapping[str, Any]]
"""The template's parameters by name, as it declares them."""


def main(environment: str, architecture: str) -> None:
    declared: Declared = yaml_parse((ROOT / "template.yaml").read_text())["Parameters"]
    kept = SamConfig(str(ROOT)).get_all(["deploy"], "parameters", environment)
    overrides = CfnParameterOverridesType().convert(kept.get("parameter_overrides", ""), None, None)
    print(f"What stands in brackets is taken by Enter; {NONE} gives no answer, or takes one back.\n")
    try:
        answers = ask({"stack_name": f"quarry-{environment}"} | kept, overrides, declared, input)
    except (EOFError, KeyboardInterrupt):
        raise SystemExit("\nNothing was changed.") from None
    config = SamConfig(str(ROOT))  # another than was read, which mixes what it reads into what it would write
    for name in ("stack_name", "region"):
        config.put(["global"], "parameters", name, answers[name], environment)
        if name in kept:  # one of the command's own would stand above it; the same one twice is kept once
            config.put(["deploy"], "parameters", name, answers[name], environment)
    text = as_text(overrides | parameters(answers) | {"Architecture": architecture})
    for name, value in (_FOR_SAM | kept | {"parameter_overrides": text}).items():
        if name not in ("stack_name", "region"):
            config.put(["deploy"], "parameters", name, value, environment)
    config.flush()
    print(f"\nKept in samconfig.toml, under {environment}.\n")


def ask(
    kept: Mapping[str, Any], overrides: Mapping[str, str], declared: Declared, read: Callable[[str], str]
) -> dict[str, str]:
    """The answer to each question that has to be asked, by its name; `read` shows a text and gives what was typed.

    `kept` is what samconfig.toml says of `sam deploy`, `overrides` the parameters among it. Where an answer is wrong, what is
    wrong is told and it is asked for again.
    """
    presets = before(kept, overrides)
    answers: dict[str, str] = {}
    for name in questions(answers):
        answer = _meant(read(f"{QUESTIONS[name]} [{presets[name] or NONE}]: "), presets[name])
        while fault := refusal(name, answer, answers, declared):
            answer = _meant(read(f"  {fault}: "), presets[name])
        answers[name] = answer
    return answers


def _meant(typed: str, preset: str) -> str:
    answer = re.sub(r"\s*,\s*", ",", typed.strip()) or preset
    return "" if answer == NONE else answer


def questions(answers: Mapping[str, str]) -> Iterator[str]:
    """The names of what is asked one after another, while `answers` grows."""
    return (name for name in QUESTIONS if name != "SubnetIds" or answers["VpcId"])


def before(kept: Mapping[str, Any], overrides: Mapping[str, str]) -> dict[str, str]:
    """What each question was answered by before, or is answered by Enter: the preset of each, empty where it is none."""
    presets = {name: overrides.get(name, "") for name in QUESTIONS}
    presets["stack_name"], presets["region"] = kept["stack_name"], kept.get("region", "us-east-1")
    bedrock = overrides.get("ModelProvider") == "bedrock"
    return presets | {"models": "bedrock" if bedrock else overrides.get("OpenAISecretArn", "")}


def refusal(name: str, answer: str, answers: Mapping[str, str], declared: Declared) -> str | None:
    """What is wrong with an answer, in the light of the `answers` before it; None if nothing is."""
    if name == "stack_name":
        return None if _STACK_NAME.fullmatch(answer) else "A letter, then up to 50 letters, digits and hyphens"
    if name == "region":
        return None if _REGION.fullmatch(answer) else "A region's name, such as eu-central-1"
    if name == "SubnetIds":
        return None if _SUBNETS.fullmatch(answer) else "Two or more, such as subnet-0a1b2c3d,subnet-4e5f6a7b"
    if name == "models":
        pattern = "bedrock|" + declared["OpenAISecretArn"]["AllowedPattern"]
        return None if re.fullmatch(pattern, answer) else f"bedrock, an ARN (arn:aws:secretsmanager:…), or {NONE}"
    pattern = declared[name]["AllowedPattern"]
    if not re.fullmatch(pattern, answer):
        return f"{re.sub(r'[()?]', '', pattern)}, or {NONE}"
    if name == "AlarmTopicArn" and answer and answer.split(":")[3] != answers["region"]:
        return f"CloudWatch tells a topic of its own region, {answers['region']}, alone"
    return None


def parameters(answers: Mapping[str, str]) -> dict[str, str]:
    """The template's parameters for `answers`. What is not given is said to be empty: a stack would keep what it had before."""
    bedrock = answers["models"] == "bedrock"
    models = {
        "ModelProvider": "bedrock" if bedrock else "openai",
        "OpenAISecretArn": "" if bedrock else answers["models"],
    }
    return {name: answers[name] for name in PARAMETERS if name in answers} | models


def as_text(overrides: Mapping[str, str]) -> str:
    """Parameters as `sam deploy --parameter-overrides` reads them."""
    return " ".join(
        f"{name}={value}" if value and not re.search(r"[\s\"']", value) else f'{name}="{value}"'
        for name, value in overrides.items()
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
