"""What `make deploy` asks, and what it makes of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from samcli.cli.types import CfnParameterOverridesType  # type: ignore[import-untyped]
from samcli.lib.config.samconfig import SamConfig  # type: ignore[import-untyped]

from tests.deployed.template import MODEL_KEY, REGION, ROOT, SECRET, read_template
from tools import deploy

DECLARED = read_template()["Parameters"]
TOPIC = f"arn:aws:sns:{REGION}:123456789012:alarms"
KEPT = {"stack_name": "quarry-dev"}


def answered(*typed: str, overrides: dict[str, str] | None = None) -> tuple[dict[str, str], list[str]]:
    """The answers after all that was typed, and what was shown before each."""
    shown: list[str] = []
    lines: Iterator[str] = iter(typed)

    def read(text: str) -> str:
        shown.append(text)
        return next(lines)

    answers = deploy.ask(KEPT, overrides or {}, DECLARED, read)
    assert next(lines, None) is None
    return answers, shown


def test_at_most_eight_things_are_asked_and_enter_answers_them() -> None:
    assert len(deploy.QUESTIONS) <= 8
    answers, shown = answered(*[""] * 6)
    assert len(shown) == 6
    assert answers == {"stack_name": "quarry-dev", "region": "us-east-1"} | dict.fromkeys(
        ("DatabaseSecretArn", "VpcId", "models", "AlarmTopicArn"), ""
    )


def test_answers_become_parameters_that_sam_reads_and_the_template_takes() -> None:
    answers, _ = answered("search", "", SECRET, "vpc-1a", "subnet-1a, subnet-2b", MODEL_KEY, TOPIC)
    given = deploy.parameters(answers)
    assert given == {
        "DatabaseSecretArn": SECRET, "VpcId": "vpc-1a", "SubnetIds": "subnet-1a,subnet-2b", "ModelProvider": "openai",
        "OpenAISecretArn": MODEL_KEY, "AlarmTopicArn": TOPIC,
    }  # fmt: skip
    assert given.keys() == set(deploy.PARAMETERS)
    kept = given | {"EmbedSchedule": "rate(1 day)", "PageUrl": ""}
    assert CfnParameterOverridesType().convert(deploy.as_text(kept), None, None) == kept


@pytest.mark.parametrize(
    ("answer", "provider", "secret"), [("", "openai", ""), ("bedrock", "bedrock", ""), (MODEL_KEY, "openai", MODEL_KEY)]
)
def test_models_are_named_by_one_answer_which_is_the_next_ones_preset(answer: str, provider: str, secret: str) -> None:
    given = deploy.parameters(dict.fromkeys(deploy.QUESTIONS, "") | {"models": answer})
    assert (given["ModelProvider"], given["OpenAISecretArn"]) == (provider, secret)
    assert deploy.before(KEPT, given)["models"] == answer


def test_an_answer_is_kept_by_enter_and_taken_back_by_none() -> None:
    before = {
        "VpcId": "vpc-1a",
        "SubnetIds": "subnet-1a,subnet-2b",
        "AlarmTopicArn": TOPIC,
        "DatabaseSecretArn": SECRET,
    }
    answers, shown = answered("", "", "", "", "", "", deploy.NONE, overrides=before)
    assert deploy.parameters(answers) == before | {
        "AlarmTopicArn": "",
        "ModelProvider": "openai",
        "OpenAISecretArn": "",
    }
    assert f"[{SECRET}]" in shown[2]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("stack_name", "1st"),
        ("stack_name", "s" * 52),
        ("region", "Frankfurt"),
        ("DatabaseSecretArn", "postgresql://quarry@db.example.org/quarry"),
        ("VpcId", "default"),
        ("SubnetIds", "subnet-1a"),
        ("models", "sk-1234"),
        ("AlarmTopicArn", "me@example.org"),
        ("AlarmTopicArn", TOPIC.replace(REGION, "eu-central-1")),
    ],
)
def test_a_wrong_answer_is_told(name: str, wrong: str) -> None:
    assert deploy.refusal(name, wrong, {"region": REGION}, DECLARED)


def test_a_wrong_answer_is_asked_for_again() -> None:
    answers, shown = answered("", "Frankfurt", "eu-central-1", "", "", "", "")
    assert answers["region"] == "eu-central-1"
    assert "eu-central-1" in shown[2]


@pytest.mark.parametrize("environment", ["default", "staging"])
def test_answers_are_kept_where_sam_reads_them(
    environment: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("samconfig.toml", "template.yaml"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setattr(deploy, "ROOT", tmp_path)
    lines = iter(["", "eu-central-1", "", "", "bedrock", ""])
    monkeypatch.setattr("builtins.input", lambda _: next(lines))
    deploy.main(environment, "x86_64")
    kept = SamConfig(str(tmp_path)).get_all(["deploy"], "parameters", environment)
    assert kept["region"] == "eu-central-1"
    assert kept["stack_name"] == {"default": "quarry-dev", "staging": "quarry-staging"}[environment]
    assert kept["resolve_s3"] is True
    overrides = CfnParameterOverridesType().convert(kept["parameter_overrides"], None, None)
    assert (overrides["ModelProvider"], overrides["Architecture"], overrides["VpcId"]) == ("bedrock", "x86_64", "")
    assert overrides.get("EmbedSchedule") == {"default": "rate(1 day)"}.get(environment)
    text = (tmp_path / "samconfig.toml").read_text()
    assert text.startswith((ROOT / "samconfig.toml").read_text()[:100])  # its comments stay
    assert text.count("resolve_s3") == {"default": 2, "staging": 3}[environment]
