"""The questions of `make deploy`, the resulting parameters, and where they are stored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

from quarry.platform.settings import JSON_VARIABLE, Settings
from tools import deploy
from tools.rehearsal.template import (
    MODEL_KEY,
    ROOT,
    SECRET,
    broken_rules,
    deployed,
    deployed_data,
    outputs_of,
)

NETWORK = "vpc-1a,subnet-1a,subnet-2b"


def typing(*lines: str, shown: list[str] | None = None) -> Callable[[str], str]:
    """Reads these lines one after another."""
    left: Iterator[str] = iter(lines)

    def read(text: str) -> str:
        if shown is not None:
            shown.append(text)
        return next(left)

    return read


@pytest.fixture
def kept(tmp_path: Path) -> deploy.Configuration:
    shutil.copy(ROOT / "samconfig.toml", tmp_path)
    return deploy.Configuration(tmp_path, "default")


def test_a_first_deployment_asks_six_questions_and_enter_answers_them(kept: deploy.Configuration) -> None:
    shown: list[str] = []
    deploy.ask(kept, "default", "arm64", typing(*[""] * 6, shown=shown))
    assert len(shown) == len(deploy.QUESTIONS) == 6
    assert kept.parameters()["stack_name"] == "quarry-dev"
    data, code = kept.overrides("-data"), kept.overrides()
    assert (data["Database"], data["ModelProvider"], data["DataProtection"]) == ("aurora", "local", "none")
    assert broken_rules("data", data) == set()
    deploy.take(kept, outputs_of(deployed_data(**data)))
    code = kept.overrides()
    assert broken_rules("template", code) == set()
    assert deployed(**code)
    assert (code["Stage"], code["Architecture"], code["DatabaseWakeSeconds"]) == ("dev", "arm64", "15")


def test_answers_become_valid_parameters_of_the_templates(kept: deploy.Configuration) -> None:
    given = ("search", "eu-central-1", SECRET, "vpc-1a, subnet-1a, subnet-2b", MODEL_KEY, "me@example.org")
    deploy.ask(kept, "default", "x86_64", typing(*given))
    data = kept.overrides("-data")
    assert {name: data[name] for name in ("Database", "VpcId", "SubnetIds", "ModelProvider", "AlarmEmail")} == {
        "Database": "own", "VpcId": "vpc-1a", "SubnetIds": "subnet-1a,subnet-2b", "ModelProvider": "openai",
        "AlarmEmail": "me@example.org",
    }  # fmt: skip
    assert broken_rules("data", data) == set()
    deploy.take(kept, outputs_of(deployed_data(**data)))
    code = kept.overrides()
    assert code["DatabaseSecretArn"] == code["LoadingSecretArn"] == code["MigratingSecretArns"] == SECRET
    assert (code["OpenAISecretArn"], code["SubnetIds"]) == (MODEL_KEY, "subnet-1a,subnet-2b")
    assert broken_rules("template", code) == set()
    assert kept.parameters("-data")["stack_name"] == "search-data"
    # Enter keeps each, and none takes one back
    deploy.ask(kept, "default", "x86_64", typing("", "", "", "", "", deploy.NONE))
    assert kept.overrides() == code
    assert kept.overrides("-data") == data | {"AlarmEmail": ""}


@pytest.mark.parametrize(
    ("name", "secret"), [("database", "postgresql://quarry:pw@db.example.org/quarry"), ("models", "sk-1234")]
)
def test_a_secret_instead_of_its_arn_is_rejected(name: str, secret: str) -> None:
    right = {"stack_name": "quarry", "region": "us-east-1", "database": SECRET, "network": NETWORK}
    right |= {"models": "bedrock", "email": "a@b"}
    lines = [line for each in deploy.QUESTIONS for line in ([secret] if each == name else []) + [right[each]]]
    assert deploy.answered(dict.fromkeys(deploy.QUESTIONS, ""), typing(*lines)) == right


def test_manual_values_are_kept(kept: deploy.Configuration) -> None:
    deploy.ask(kept, "default", "arm64", typing("", "", SECRET, "", "", ""))
    by_hand = {
        "LoadingSecretArn": f"{SECRET}-load",
        "UserPoolId": "us-east-1_CITY",
        "UserPoolDomain": "https://login.example.org",
    }
    kept.keep({}, kept.overrides() | by_hand)
    kept.keep({}, kept.overrides("-data") | {"Users": "own"}, "-data")
    deploy.ask(kept, "default", "arm64", typing(*[""] * 6))
    deploy.take(kept, outputs_of(deployed_data(**kept.overrides("-data"))))
    assert by_hand.items() <= kept.overrides().items()
    assert kept.overrides()["MigratingSecretArns"] == SECRET
    deploy.ask(kept, "default", "arm64", typing("", "", deploy.NONE, "", "", ""))
    deploy.take(kept, outputs_of(deployed_data(**kept.overrides("-data"))))
    assert "ServingSecret" in kept.overrides()["DatabaseSecretArn"]


def test_without_a_terminal_answers_are_those_of_the_environment_then_of_samconfig(kept: deploy.Configuration) -> None:
    given = {"QUARRY_DEPLOY_STACK_NAME": "quarry-stage", "QUARRY_DEPLOY_DATABASE": SECRET, "QUARRY_DEPLOY_MODELS": ""}
    answers = deploy.unattended(kept, "default", given)
    assert answers == dict.fromkeys(deploy.QUESTIONS, "") | {
        "stack_name": "quarry-stage", "region": "us-east-1", "database": SECRET
    }  # fmt: skip
    deploy.store(kept, "arm64", answers)
    assert broken_rules("data", kept.overrides("-data")) == set()
    # the next run needs no variable, and one of them withdraws an answer
    assert deploy.unattended(kept, "default", {}) == answers
    withdrawn = deploy.unattended(kept, "default", {"QUARRY_DEPLOY_DATABASE": deploy.NONE})
    assert withdrawn == answers | {"database": ""}


@pytest.mark.parametrize(("name", "wrong"), [("region", "Frankfurt"), ("models", "sk-live-4f"), ("network", "vpc-1a")])
def test_without_a_terminal_a_wrong_answer_ends_the_deployment(
    kept: deploy.Configuration, capsys: pytest.CaptureFixture[str], name: str, wrong: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        deploy.unattended(kept, "default", {f"QUARRY_DEPLOY_{name.upper()}": wrong})
    assert ended.value.code == 2
    assert f"QUARRY_DEPLOY_{name.upper()}: " in capsys.readouterr().err
    assert not deploy.Configuration(kept._root, "default").overrides("-data").get("Database")


def test_a_checkout_without_answers_leaves_the_stacks_parameters_as_they_are(kept: deploy.Configuration) -> None:
    deploy.store(kept, "arm64", deploy.unattended(kept, "default", {}))
    stacks = {
        "quarry-dev-data": {"DataProtection": "full", "AuroraMaxCapacity": "16", "AlarmEmail": "old@example.org"},
        "quarry-dev": {"RequestsPerSecond": "7", "Stage": "old"},
    }
    deploy.carry_over(kept, lambda name, region: stacks[name])
    data, code = kept.overrides("-data"), kept.overrides()
    assert (data["DataProtection"], data["AuroraMaxCapacity"], data["AlarmEmail"]) == ("full", "16", "")
    assert (code["RequestsPerSecond"], code["Stage"]) == ("7", "dev")


def test_parameters_of_an_earlier_release_become_settings_and_stay(kept: deploy.Configuration) -> None:
    deploy.store(kept, "arm64", deploy.unattended(kept, "default", {}))
    own = {"InitialCredits": "25", "DatabaseSchema": "", "Settings": '{"OPENAI_MODEL": "our model"}'}
    kept.keep({}, kept.overrides() | own)
    of_stacks = {"quarry-dev-data": {}, "quarry-dev": {"ModelPromptPrice": "0.2", "SearchResultExpiryHours": "4"}}
    deploy.carry_over(kept, lambda name, region: of_stacks[name])
    deploy.store(kept, "arm64", deploy.unattended(kept, "default", {}))
    code = kept.overrides()
    assert not code.keys() & deploy.SETTINGS.keys()
    settings = json.loads(code["Settings"])
    assert settings == {
        "OPENAI_MODEL": "our model", "INITIAL_CREDITS": "25", "MODEL_PROMPT_PRICE": "0.2", "SEARCH_RESULT_EXPIRY_HOURS": "4"
    }  # fmt: skip
    read = Settings.from_environment({JSON_VARIABLE: code["Settings"], "MODEL_COMPLETION_PRICE": "0.6"})
    assert (read.initial_credits, read.model_prompt_price) == (25, 0.2)


def test_the_workflow_gives_every_answer_and_assumes_a_role() -> None:
    [job] = yaml_parse((ROOT / ".github" / "workflows" / "deploy-stack.yml").read_text())["jobs"].values()
    assert {f"{deploy.VARIABLE}{name.upper()}" for name in deploy.QUESTIONS} <= job["env"].keys()
    [credentials] = [step["with"] for step in job["steps"] if "configure-aws-credentials" in step.get("uses", "")]
    assert "role-to-assume" in credentials
    workflow = yaml_parse((ROOT / ".github" / "workflows" / "deploy.yml").read_text())
    sections = [each["with"]["section"] for each in workflow["jobs"].values() if "with" in each]
    assert sections == ["default", "prod"]
    assert workflow["jobs"]["production"]["needs"] == "stage"


@pytest.mark.parametrize(
    ("data", "concurrency", "given", "limit"),
    [
        # 0.6 of 822 connections, two for each search
        ({}, 1000, "0", "246"),
        ({}, 1000, "50", "50"),
        ({}, 1000, "900", "246"),
        ({"AuroraMaxCapacity": "16"}, 1000, "0", "600"),
        ({"AuroraMaxCapacity": "32", "AuroraMinCapacity": "1"}, 1000, "0", "0"),
        ({"AuroraMaxCapacity": "1"}, 1000, "0", "56"),
        # a new account
        ({}, 10, "0", "0"),
        ({"AuroraProxy": "true", "AuroraMinCapacity": "1"}, 1000, "0", "0"),
        ({"Database": "own"}, 1000, "0", "0"),
    ],
)
def test_searches_are_limited_where_the_account_could_open_more_connections_than_the_database_takes(
    kept: deploy.Configuration, data: dict[str, str], concurrency: int, given: str, limit: str
) -> None:
    kept.keep({}, {"Database": "aurora"} | data, "-data")
    kept.keep({}, {"SearchConcurrencyMax": given})
    deploy.take(kept, outputs_of(deployed_data(**data)))
    deploy.limit_concurrency(kept, concurrency)
    assert kept.overrides()["SearchConcurrencyMax"] == limit
