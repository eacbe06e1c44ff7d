"""The steps of `make deploy` that `sam deploy` does not do, in the order of the Makefile:

    python -m tools.deploy ask ENVIRONMENT ARCHITECTURE     asks what only the stack's owner knows
    python -m tools.deploy take ENVIRONMENT                 passes the outputs of data.yaml's stack to template.yaml
    python -m tools.deploy protect ENVIRONMENT LEVEL        protects the data against deletion by mistake

Without a terminal nothing is asked: an answer is that of the environment (QUARRY_DEPLOY_REGION and so on) or of samconfig, and
the other parameters of a stack stay as they are. A wrong answer ends the deployment with status 2.

The answers are stored in samconfig.own.toml, which git ignores because it names an account. samconfig.toml holds the defaults
of an environment.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from samcli.cli.types import CfnParameterOverridesType  # type: ignore[import-untyped]
from samcli.lib.config.samconfig import SamConfig  # type: ignore[import-untyped]
from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[1]
OWN = "samconfig.own.toml"

NONE = "none"
"""Typed to withdraw an answer, or to give none."""

QUESTIONS = {
    "stack_name": "Name of the stack",
    "region": "Region of AWS",
    "database": "Your own Postgres: the ARN of a secret with its URL; none: an Aurora database is created",
    "network": "VPC of the database, as vpc-…,subnet-…,subnet-… with private subnets; none: one is created for Aurora",
    "models": "Models: bedrock, or the ARN of a secret with a key for OpenAI; none: the small local embedding model",
    "email": "Email address for alarms; none: they only show in CloudWatch",
}
"""All that is asked, in this order."""

VARIABLE = "QUARRY_DEPLOY_"
"""What the variables of the environment begin with that answer a question."""

_PATTERNS = {
    # a function's name is CodeDeployHook_ plus the stack's name, at most 64 characters
    "stack_name": (r"[a-zA-Z][a-zA-Z0-9-]{0,48}", "A letter, then up to 48 letters, digits and hyphens"),
    "region": (r"[a-z]{2,}(-[a-z]+)+-\d", "A region's name, such as eu-central-1"),
    "database": (r"(arn:aws[a-z-]*:secretsmanager:.+)?", f"arn:aws:secretsmanager:…, or {NONE}"),
    "network": (
        r"(vpc-[0-9a-f]+(,subnet-[0-9a-f]+){2,})?",
        f"A VPC and two or more subnets, such as vpc-0a1b,subnet-2c3d,subnet-4e5f, or {NONE}",
    ),
    "models": (r"(bedrock|arn:aws[a-z-]*:secretsmanager:.+)?", f"bedrock, arn:aws:secretsmanager:…, or {NONE}"),
    "email": (r"([^@\s]+@[^@\s]+)?", f"An email address, or {NONE}"),
}

# The rest of what `sam deploy` needs.
_FOR_SAM = {"capabilities": "CAPABILITY_IAM CAPABILITY_AUTO_EXPAND", "resolve_s3": True, "confirm_changeset": True}
_FOR_DATA = _FOR_SAM | {"template_file": "data.yaml", "fail_on_empty_changeset": False}

SETTINGS = {
    "DatabaseSchema": "DATABASE_SCHEMA",
    "OpenAIModel": "OPENAI_MODEL",
    "OpenAIEmbeddingModel": "OPENAI_EMBEDDING_MODEL",
    "EmbeddingDimensions": "EMBEDDING_DIMENSIONS",
    "ModelPromptPrice": "MODEL_PROMPT_PRICE",
    "ModelCompletionPrice": "MODEL_COMPLETION_PRICE",
    "RateLimitPerMinute": "RATE_LIMIT_PER_MINUTE",
    "AnswerLifetimeDays": "ANSWER_LIFETIME_DAYS",
    "SearchResultExpiryHours": "SEARCH_RESULT_EXPIRY_HOURS",
    "InitialCredits": "INITIAL_CREDITS",
    "RunLogDays": "RUN_LOG_DAYS",
    "TraceEndpoint": "OTEL_EXPORTER_OTLP_ENDPOINT",
}
"""Parameters of a stack of release 0.1, and the settings that they are now: names in its parameter `Settings`."""

Answers = Mapping[str, str]

SEARCHES_SHARE = 0.6
"""Of the database's connections, for searches; the rest is for the other functions and below the alarm."""
UNRESERVED = 100
"""What Lambda keeps for functions without a limit of their own."""


class Configuration:
    """The stored values of an environment: of its stack, and with the suffix `-data`, of its data's."""

    def __init__(self, root: Path, environment: str) -> None:
        self._root = root
        self._environment = environment

    def parameters(self, suffix: str = "") -> dict[str, Any]:
        """The options of `sam deploy`; your own values override the defaults."""
        values: dict[str, Any] = {}
        for name in ("samconfig.toml", OWN):
            config = SamConfig(str(self._root), name)
            if config.exists():
                values |= _all_of(config, self._environment + suffix)
        return values

    def overrides(self, suffix: str = "") -> dict[str, str]:
        """The parameters of the stack."""
        text = self.parameters(suffix).get("parameter_overrides", "")
        values: dict[str, str] = CfnParameterOverridesType().convert(text, None, None)
        return with_settings(values)

    def keep(self, values: Mapping[str, Any], overrides: Mapping[str, str], suffix: str = "") -> None:
        """Adds these to your own file."""
        merged = self.parameters(suffix) | dict(values) | {"parameter_overrides": as_text(overrides)}
        config = SamConfig(str(self._root), OWN)
        for name, value in merged.items():
            config.put(["deploy"], "parameters", name, value, self._environment + suffix)
        config.flush()


def with_settings(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters with those of an earlier release as settings; one that `Settings` has stays."""
    earlier = {SETTINGS[name]: value for name, value in parameters.items() if name in SETTINGS and value}
    remaining = {name: value for name, value in parameters.items() if name not in SETTINGS}
    if earlier:
        remaining["Settings"] = json.dumps(earlier | json.loads(remaining.get("Settings", "{}")))
    return remaining


def _all_of(config: Any, environment: str) -> dict[str, Any]:
    try:
        values: dict[str, Any] = config.get_all(["deploy"], "parameters", environment)
    except KeyError:
        return {}
    return values


def ask(configuration: Configuration, environment: str, architecture: str, prompt: Callable[[str], str]) -> None:
    """Asks each question, with `read` showing a text and returning what was typed, and stores the resulting values."""
    print(f"Press Enter to accept the value in brackets; {NONE} gives no answer, or withdraws one.\n")
    try:
        answers = answered(presets(configuration, environment), prompt)
    except (EOFError, KeyboardInterrupt):
        raise SystemExit("\nNothing was changed.") from None
    store(configuration, architecture, answers)
    print(f"\nKept in {OWN}, under {environment}.\n")


def unattended(configuration: Configuration, environment: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The answers without anybody to ask: the variables of `given`, else the presets. Raises SystemExit for a wrong one."""
    before = presets(configuration, environment)
    answers = {name: _answer(variables.get(VARIABLE + name.upper(), ""), before[name]) for name in QUESTIONS}
    for name, answer in answers.items():
        pattern, expected = _PATTERNS[name]
        if not re.fullmatch(pattern, answer):
            print(f"{VARIABLE}{name.upper()}: {expected}; got {answer!r}", file=sys.stderr)
            raise SystemExit(2)
        print(f"{QUESTIONS[name].partition(':')[0]}: {answer or NONE}")
    return answers


def carry_over(configuration: Configuration, read_stack: Callable[[str, str], Mapping[str, str]]) -> None:
    """Keeps the parameters of the stacks as they are where samconfig sets none, since a checkout in CI has no answers of earlier
    deployments; `read` returns those of a stack in a region. The data stays as protected as it is.
    """
    for suffix in ("-data", ""):
        place = configuration.parameters(suffix)
        current = dict(read_stack(place["stack_name"], place["region"]))
        present = configuration.overrides(suffix)
        if "DataProtection" in current:
            present["DataProtection"] = current["DataProtection"]
        configuration.keep({}, with_settings(current | present), suffix)


def store(configuration: Configuration, architecture: str, answers: Answers) -> None:
    """Stores what the answers make of both stacks."""
    place = {"region": answers["region"]}
    data = {"stack_name": f"{answers['stack_name']}-data"} | place
    code = (
        configuration.overrides()
        | code_parameters(answers, _secrets_apart(configuration))
        | {"Architecture": architecture}
    )
    configuration.keep(_FOR_DATA | data, configuration.overrides("-data") | data_parameters(answers), "-data")
    configuration.keep(_FOR_SAM | {"stack_name": answers["stack_name"]} | place, code)


def presets(configuration: Configuration, environment: str) -> dict[str, str]:
    """The answer to each question that Enter gives: the earlier answer or a default, or empty."""
    own, code, data = configuration.parameters(), configuration.overrides(), configuration.overrides("-data")
    bedrock = data.get("ModelProvider") == "bedrock"
    return {
        "stack_name": own.get("stack_name", f"quarry-{environment}"),
        "region": own.get("region", "us-east-1"),
        "database": code.get("DatabaseSecretArn", "") if data.get("Database") == "own" else "",
        "network": ",".join(filter(None, (data.get("VpcId"), data.get("SubnetIds")))),
        "models": "bedrock" if bedrock else code.get("OpenAISecretArn", ""),
        "email": data.get("AlarmEmail", ""),
    }


def answered(before: Answers, prompt: Callable[[str], str]) -> dict[str, str]:
    """The answer to each question. A wrong answer is explained and asked for again."""
    answers = {}
    for name, question in QUESTIONS.items():
        pattern, expected = _PATTERNS[name]
        answer = _answer(prompt(f"{question} [{before[name] or NONE}]: "), before[name])
        while not re.fullmatch(pattern, answer):
            answer = _answer(prompt(f"  {expected}: "), before[name])
        answers[name] = answer
    return answers


def _answer(typed: str, preset: str) -> str:
    answer = re.sub(r"\s*,\s*", ",", typed.strip()) or preset
    return "" if answer == NONE else answer


def _model_provider(answers: Answers) -> str:
    return {"": "local", "bedrock": "bedrock"}.get(answers["models"], "openai")


def data_parameters(answers: Answers) -> dict[str, str]:
    """The parameters of data.yaml. Missing answers are set to empty: otherwise a stack would keep its earlier value."""
    vpc, _, subnets = answers["network"].partition(",")
    return {
        "Database": "own" if answers["database"] else "aurora",
        "VpcId": vpc,
        "SubnetIds": subnets,
        "ModelProvider": _model_provider(answers),
        "AlarmEmail": answers["email"],
    }


_SECRETS = ("DatabaseSecretArn", "LoadingSecretArn", "MigratingSecretArns")


def code_parameters(answers: Answers, apart: Mapping[str, str]) -> dict[str, str]:
    """The parameters of template.yaml that the answers set. Your own database has one secret for all kinds of work, except for
    those set `apart`.
    """
    provider, secret = _model_provider(answers), answers["database"]
    return {
        "ModelProvider": provider,
        "OpenAISecretArn": answers["models"] if provider == "openai" else "",
        **{name: apart.get(name, secret) if secret else "" for name in _SECRETS},
    }


def _secrets_apart(configuration: Configuration) -> dict[str, str]:
    """The secrets that the owner of a database has set for a kind of work."""
    if configuration.overrides("-data").get("Database") != "own":
        return {}
    present = configuration.overrides()
    return {
        name: present[name] for name in _SECRETS[1:] if present.get(name, "") not in ("", present["DatabaseSecretArn"])
    }


def take(configuration: Configuration, outputs: Mapping[str, str]) -> None:
    """Stores the outputs of data.yaml's stack as parameters of template.yaml. Parameters that no longer have an output get
    their defaults, except for values that were set by hand for your own database or users.
    """
    data, code = _template("data"), _template("template")
    overrides, of_data = configuration.overrides(), configuration.overrides("-data")
    own_database, own_users = of_data.get("Database") == "own", of_data.get("Users") == "own"
    for name in data["Outputs"]:
        if name in outputs:
            overrides[name] = outputs[name]
        elif name not in overrides or not (own_users if name.startswith("UserPool") else own_database):
            overrides[name] = str(code["Parameters"][name]["Default"])
    configuration.keep({}, overrides)


def connections_max(overrides: Mapping[str, str]) -> int:
    """How many connections Aurora takes: LEAST({DBInstanceClassMemory/9531392}, 5000) at its most capacity units, 189 at one and
    823 at four; at most 2,000 if its least are 0 or 0.5.
    """
    return min(int(overrides["AuroraConnectionsMax"]), int(211 * float(overrides["AuroraMaxCapacity"]) - 22))


def limit_concurrency(configuration: Configuration, concurrency: int) -> None:
    """Limits concurrent searches where an account that runs `concurrency` functions at once could open more connections than
    the stack's Aurora takes without a proxy. A lower limit that is set stays.
    """
    overrides = configuration.overrides()
    if configuration.overrides("-data").get("Database") != "aurora" or overrides["DatabasePooled"] == "true":
        return
    pool = int(overrides.get("DatabasePoolSize", _template("template")["Parameters"]["DatabasePoolSize"]["Default"]))
    affordable = min(int(connections_max(overrides) * SEARCHES_SHARE) // pool, concurrency - UNRESERVED)
    set_by_hand = int(overrides.get("SearchConcurrencyMax", 0))
    if concurrency * pool > connections_max(overrides) * SEARCHES_SHARE and affordable > 0:
        configuration.keep({}, overrides | {"SearchConcurrencyMax": str(min(set_by_hand or affordable, affordable))})


def read_concurrency(region: str) -> int:
    """How many functions the account runs at once. Raises botocore's ClientError."""
    import boto3

    limits = boto3.client("lambda", region).get_account_settings()["AccountLimit"]
    return int(limits["ConcurrentExecutions"])


def read_outputs(stack_name: str, region: str) -> dict[str, str]:
    """The outputs of a stack. Raises botocore's ClientError if it does not exist."""
    import boto3

    [stack] = boto3.client("cloudformation", region).describe_stacks(StackName=stack_name)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def read_parameters(stack_name: str, region: str) -> dict[str, str]:
    """The parameters of a stack that its template still has, or that are settings now; none if there is no such stack."""
    import boto3
    from botocore.exceptions import ClientError

    try:
        [stack] = boto3.client("cloudformation", region).describe_stacks(StackName=stack_name)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":  # what is answered where there is none
            raise
        return {}
    declared = _template("data" if stack_name.endswith("-data") else "template")["Parameters"] | SETTINGS
    parameters = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])}
    return {name: value for name, value in parameters.items() if name in declared}


def protect(configuration: Configuration, level: str) -> None:
    """Stores the protection level of the data: `full`, `snapshot` or `none`, as in data.yaml."""
    configuration.keep({}, configuration.overrides("-data") | {"DataProtection": level}, "-data")


def as_text(overrides: Mapping[str, str]) -> str:
    """Parameters in the format of `sam deploy --parameter-overrides`."""
    return " ".join(f"{name}={_quoted(value)}" for name, value in overrides.items())


def _quoted(value: str) -> str:
    if value and not re.search(r"[\s\"']", value):
        return value
    # sam reads what stands in single quotes as it is
    return f"'{value}'" if '"' in value else f'"{value}"'


def _template(template: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml_parse((ROOT / f"{template}.yaml").read_text())
    return content


def main(step: str, environment: str, rest: str = "") -> None:
    configuration = Configuration(ROOT, environment)
    if step == "ask" and sys.stdin.isatty():
        ask(configuration, environment, rest, input)
    elif step == "ask":
        store(configuration, rest, unattended(configuration, environment, os.environ))
        carry_over(configuration, read_parameters)
    elif step == "take":
        data = configuration.parameters("-data")
        take(configuration, read_outputs(data["stack_name"], data["region"]))
        limit_concurrency(configuration, read_concurrency(data["region"]))
    else:
        protect(configuration, rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
