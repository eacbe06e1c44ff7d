"""The templates as data: as written, as expanded by SAM, and as resolved by CloudFormation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]

Template = dict[str, Any]

REGION = "us-east-1"
ACCOUNT = "123456789012"
STACK_ID = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/quarry/5b9e4f10-c2d3-11f0-8a11-0e1f2a3b4c5d"

SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:quarry-database-AbCdEf"
MODEL_KEY = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:quarry-model-AbCdEf"
TOPIC = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"

OWN_DATA = {
    "DatabaseSecretArn": SECRET,
    "LoadingSecretArn": SECRET,
    "MigratingSecretArns": SECRET,
    "UserPoolId": f"{REGION}_EXAMPLE",
    "UserPoolDomain": "https://login.example.org",
    "DataBucket": "city-files",
}
"""What a team gives by hand that has a database, a user pool and a bucket."""

READ_BY_SAM = ("TrafficShift",)
"""The parameters whose values decide what SAM makes; the others it would only put in, which is done here: for each of the many
combinations tried SAM would read every route anew.
"""

NO_VALUE = object()

_PSEUDO_PARAMETERS = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "quarry",
    "AWS::StackId": STACK_ID,
    "AWS::NoValue": NO_VALUE,
}
_VARIABLE = re.compile(r"\$\{([^!}]+)\}")


def template_text(name: str = "template") -> str:
    return (ROOT / f"{name}.yaml").read_text()


def read_template(name: str = "template") -> Template:
    """A template, with `!Ref X` as `{"Ref": "X"}` and so on, and aliases expanded; the caller may change it."""
    return deepcopy(_read_template(name))


@cache
def _read_template(name: str) -> Template:
    template: Template = json.loads(json.dumps(yaml_parse(template_text(name))))
    return template


def functions(template: Template) -> dict[str, dict[str, Any]]:
    """The properties of each Lambda function, by the name of its folder."""
    return {
        Path(resource["Properties"]["CodeUri"]).name: resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def expand(
    change: Callable[[Template], None] = lambda template: None, parameters: Mapping[str, str] | None = None
) -> Template:
    """What the template becomes in CloudFormation, after `change`, as if it had been packaged."""
    template = read_template()
    declared = template.pop("Parameters")
    template["Parameters"] = {name: declared[name] for name in READ_BY_SAM}
    for resource in template["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][name] = f"s3://artifacts/{resource['Properties'][name]}"
        if "Location" in resource.get("Properties", {}):
            location = resource["Properties"]["Location"]
            resource["Properties"]["Location"] = f"https://artifacts.s3.amazonaws.com/{location}"
    change(template)
    # here, since every process that shares the tests reads this module
    import boto3
    from samtranslator.parser.parser import Parser  # type: ignore[import-untyped]
    from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]

    session = boto3.Session(region_name=REGION, aws_access_key_id="none", aws_secret_access_key="none")
    expanded: Template = Translator({}, Parser(), boto_session=session).translate(template, dict(parameters or {}))
    return expanded | {"Parameters": declared}


@cache
def _expanded(parameters: frozenset[tuple[str, str]]) -> Template:
    return expand(parameters=dict(parameters))


def deployed(**parameters: str) -> Template:
    """The expanded template with conditions and intrinsic functions resolved: the resources for these `parameters`.

    Values that only AWS knows are `<Resource.Attribute>`.
    """
    read = frozenset((name, value) for name, value in parameters.items() if name in READ_BY_SAM)
    return _Resolver(_expanded(read), parameters).template()


def deployed_data(**parameters: str) -> Template:
    """Like `deployed`, for data.yaml."""
    return _Resolver(read_template("data"), parameters).template()


def nested(name: str, stack: Template) -> Template:
    """Like `deployed`, for the template `name` as nested in `stack`."""
    given = of_type(stack, "AWS::CloudFormation::Stack")[name.title()]["Parameters"]
    return _Resolver(read_template(name), {each: str(value) for each, value in given.items()}).template()


def outputs_of(data: Template) -> dict[str, str]:
    """The outputs of a deployed data.yaml as parameters of template.yaml, with values as AWS might create them."""
    made = {
        "UserPool": f"{REGION}_EXAMPLE",
        "UserPoolLoginDomain": "quarry-0e1f2a3b4c5d",
        "AlarmTopic": TOPIC,
        "WebAcl": f"arn:aws:wafv2:{REGION}:{ACCOUNT}:regional/webacl/quarry/1",
    }

    def known(match: re.Match[str]) -> str:
        name = match[1]
        return made.get(name.partition(".")[0]) or (secret_arn(name) if "Secret" in name else match[0])

    return {name: re.sub(r"<([\w.]+)>", known, str(output["Value"])) for name, output in data["Outputs"].items()}


def secret_arn(name: str) -> str:
    """The ARN of a secret in data.yaml, by its name there."""
    return f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{name}-AbCdEf"


def broken_rules(name: str, parameters: Mapping[str, str]) -> set[str]:
    """The rules of a template that these parameters violate: CloudFormation rejects them before it creates anything."""
    return _Resolver(read_template(name), parameters).broken_rules()


class _Resolver:
    def __init__(self, template: Template, parameters: Mapping[str, str]) -> None:
        self._source = template
        declared = template["Parameters"]
        unknown = parameters.keys() - declared.keys()
        assert not unknown, unknown
        self._parameters = {
            name: parameters[name] if name in parameters else declaration["Default"]
            for name, declaration in declared.items()
        }
        for name, value in parameters.items():
            assert re.fullmatch(declared[name].get("AllowedPattern", ".*"), value), (name, value)
            assert value in map(str, declared[name].get("AllowedValues", [value])), (name, value)

    def template(self) -> Template:
        resources = {
            name: self._resolve(resource)
            for name, resource in self._source["Resources"].items()
            if "Condition" not in resource or self._holds(resource["Condition"])
        }
        outputs = {
            name: self._resolve(output)
            for name, output in self._source.get("Outputs", {}).items()
            if "Condition" not in output or self._holds(output["Condition"])
        }
        return {"Resources": resources, "Outputs": outputs}

    def broken_rules(self) -> set[str]:
        return {
            name
            for name, rule in self._source["Rules"].items()
            if self._truth(rule.get("RuleCondition", {"Fn::Equals": ["", ""]}))
            and not all(self._truth(each["Assert"]) for each in rule["Assertions"])
        }

    def _holds(self, name: str) -> bool:
        return self._truth(self._source["Conditions"][name])

    def _truth(self, condition: Any) -> bool:
        [(function, given)] = condition.items()
        match function:
            case "Condition":
                return self._holds(given)
            case "Fn::Equals":
                left, right = map(self._resolve, given)
                return str(left) == str(right)
            case "Fn::EachMemberIn":
                items, known = map(self._resolve, given)
                return set(items) <= set(known)
            case "Fn::Not":
                return not self._truth(given[0])
            case "Fn::And":
                return all(map(self._truth, given))
            case "Fn::Or":
                return any(map(self._truth, given))
        raise AssertionError(function)

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, list):
            return [item for item in map(self._resolve, value) if item is not NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            [(function, given)] = value.items()
            if function == "Ref" or function.startswith("Fn::"):
                return self._call(function, given)
        resolved = {name: self._resolve(item) for name, item in value.items()}
        return {name: item for name, item in resolved.items() if item is not NO_VALUE}

    def _call(self, function: str, given: Any) -> Any:
        match function:
            case "Ref":
                return self._name(given)
            case "Fn::GetAtt":
                return self._attribute(given if isinstance(given, str) else ".".join(given))
            case "Fn::If":
                condition, yes, no = given
                return self._resolve(yes if self._holds(condition) else no)
            case "Fn::Sub":
                text, variables = given if isinstance(given, list) else (given, {})
                return _VARIABLE.sub(lambda match: str(self._variable(match[1], variables)), text)
            case "Fn::Select":
                index, items = given
                items = self._resolve(items)
                return items[int(index)] if isinstance(items, list) else f"<{items}[{index}]>"
            case "Fn::Join":
                separator, items = given
                return separator.join(self._resolve(items))
            case "Fn::Split":
                separator, text = given
                text = self._resolve(text)
                return text.split(separator) if separator in text else text  # what only AWS knows
            case "Fn::GetAZs":
                return [f"{REGION}{letter}" for letter in "abc"]
            case "Fn::FindInMap":
                name, key, attribute = map(self._resolve, given)
                return self._source["Mappings"][name][key][attribute]
        raise AssertionError(function)

    def _variable(self, name: str, variables: Mapping[str, Any]) -> Any:
        if name in variables:
            return self._resolve(variables[name])
        return self._attribute(name) if "." in name else self._name(name)

    def _name(self, name: str) -> Any:
        if name in _PSEUDO_PARAMETERS:
            return _PSEUDO_PARAMETERS[name]
        if name in self._parameters:
            value = self._parameters[name]
            of_list = self._source["Parameters"][name]["Type"] == "CommaDelimitedList"
            return str(value).split(",") if of_list else value
        return self._attribute(name)

    def _attribute(self, name: str) -> str:
        resource = self._source["Resources"].get(name.partition(".")[0])
        assert resource is not None, f"{name}: there is no such resource"
        assert "Condition" not in resource or self._holds(resource["Condition"]), f"{name} does not exist here"
        return f"<{name}>"


def of_type(template: Template, type: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of `type`, by name."""
    return {
        name: resource.get("Properties", {})
        for name, resource in template["Resources"].items()
        if resource["Type"] == type
    }


def operations(template: Template) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Method, path and definition of each of the API's operations."""
    [api] = of_type(template, "AWS::ApiGateway::RestApi").values()
    for path, methods in api["Body"]["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def statements(template: Template) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement of every policy of the template's own, with the name of its resource."""
    for name, role in of_type(template, "AWS::IAM::Role").items():
        for policy in role.get("Policies", []):
            yield from ((name, statement) for statement in policy["PolicyDocument"]["Statement"])
    for name, policy in of_type(template, "AWS::IAM::ManagedPolicy").items():
        yield from ((name, statement) for statement in policy["PolicyDocument"]["Statement"])
