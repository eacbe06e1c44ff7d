"""template.yaml says the same as the code, and becomes in CloudFormation what it is meant to."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from quarry.api import cache_lookup, console, profile, search, unlock
from quarry.core.custom_resource import LOGINS
from quarry.core.idempotency import WAIT_SECONDS
from quarry.core.metrics import METRICS
from quarry.core.settings import Settings
from quarry.core.tuned_settings import TUNED_NAMES
from quarry.core.web import problems
from quarry.core.web.identity import verified_caller
from quarry.core.web.telemetry import SERVICE
from quarry.domains import DOMAINS
from tests.deployed.template import (
    MODEL_KEY,
    REGION,
    ROOT,
    SECRET,
    USER_POOL,
    Template,
    deployed,
    expand,
    functions,
    of_type,
    operations,
    read_template,
    statements,
    template_text,
)
from tools import deploy

TEMPLATE = read_template()

ROUTERS = {
    "search": search.ROUTERS,
    "unlock": unlock.ROUTERS,
    "profile": profile.ROUTERS,
    "cache_lookup": cache_lookup.ROUTERS,
    "console": console.ROUTERS,
}
STREAMING = {"search"}
CALL_A_MODEL = {"search", "embed"}
KINDS = {"migrate": "Migrating"} | dict.fromkeys(("cleanup", "embed", "load"), "Loading")
"""What the secret of a function's work is called that does not serve."""

# Set by Lambda, local alone, or secrets, which come by their ARN.
NOT_FOR_THE_TEMPLATE = {
    "quarry_allowed_hosts",
    "quarry_data_dir",
    "openai_api_key",
    "aws_lambda_function_name",
    "aws_lambda_log_stream_name",
    "aws_sam_local",
    *TUNED_NAMES,  # what the environment sets would stand above what is stored
}
NOT_SETTINGS = {"AWS_LAMBDA_EXEC_WRAPPER", "QUARRY_RELEASE"}

EXTERNAL = {"DatabaseSecretArn": SECRET}
PARAMETER_SETS: dict[str, dict[str, str]] = {
    "everything is made": {"OpenAISecretArn": MODEL_KEY},
    "nothing but a database": EXTERNAL,
    "all that exists is named": EXTERNAL
    | {
        "VpcId": "vpc-0a1b2c3d",
        "SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6a7b",
        "DatabasePooled": "true",
        "DatabaseReaderUrl": "postgresql://replica.example.org:5432/",
        "OpenAISecretArn": MODEL_KEY,
        "UserPoolArn": USER_POOL,
        "UserPoolClientId": "4vq8exampleclient0",
        "UserPoolDomain": "https://login.example.org",
        "AccessTokenScope": "quarry/search",
        "PageUrl": "https://search.example.org/",
        "AllowedOrigin": "https://city.example.org",
        "WebAclArn": f"arn:aws:wafv2:{REGION}:123456789012:regional/webacl/quarry/1",
        "SecretsKeyArn": f"arn:aws:kms:{REGION}:123456789012:key/1",
        "AlarmTopicArn": f"arn:aws:sns:{REGION}:123456789012:alarms",
        "ApiGatewayLogRole": "existing",
        "SnapStart": "true",
        "SearchConcurrencyMax": "20",
        "LogLevel": "WARNING",
    },
    "Aurora behind a proxy in a given network": {
        "VpcId": "vpc-0a1b2c3d",
        "SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6a7b",
        "AuroraProxy": "true",
        "AuroraMinCapacity": "0.5",
        "AuroraReaders": "15",
        "OpenAIBaseUrl": "https://models.example.org/v1",
    },
    "Bedrock": EXTERNAL | {"ModelProvider": "bedrock"},
}

Route = tuple[str, str, bool]
"""Method, path, and whether it is public."""


@pytest.fixture(scope="module", params=list(PARAMETER_SETS))
def stack(request: pytest.FixtureRequest) -> Template:
    """What is deployed with one of the parameter sets."""
    return deployed(**PARAMETER_SETS[request.param])


# --- routes


def asks_who_calls(dependant: Dependant) -> bool:
    return dependant.call is verified_caller or any(map(asks_who_calls, dependant.dependencies))


def served(routers: Iterable[APIRouter]) -> set[Route]:
    routes = (route for router in routers for route in router.routes if isinstance(route, APIRoute))
    return {
        (method, api_gateway_path(route), not asks_who_calls(route.dependant))
        for route in routes
        for method in (route.methods or set()) | ({"HEAD"} if "GET" in (route.methods or ()) else set())
    }


def api_gateway_path(route: APIRoute) -> str:
    """The route's path in API Gateway's spelling. A parameter of many segments must end its path and have no sibling there, so
    an id of people is one segment, its slashes encoded.
    """
    return route.path.replace(":path}", "}" if route.path.startswith("/people/") else "+}")


def function_of(operation: dict[str, Any]) -> str:
    """The folder of the function that an expanded operation leads to."""
    uri = operation["x-amazon-apigateway-integration"]["uri"]
    found = re.search(r"functions/<(\w+)FunctionAliaslive>/", uri)
    assert found, uri
    return re.sub(r"(?<!^)(?=[A-Z])", "_", found[1]).lower()


def test_a_route_leads_to_the_function_that_serves_it_and_is_public_where_it_knows_no_user(stack: Template) -> None:
    reached: dict[str, set[Route]] = {name: set() for name in ROUTERS}
    for method, path, operation in operations(stack):
        if method != "OPTIONS":
            [security] = operation["security"]
            assert security.keys() in ({"Cognito"}, {"NONE"})
            reached[function_of(operation)].add((method, path, "NONE" in security))
    assert reached == {name: served(routers) for name, routers in ROUTERS.items()}


def test_the_public_routes_are_those_of_the_contract() -> None:
    public = {path for routers in ROUTERS.values() for _, path, is_public in served(routers) if is_public}
    page = {"/", "/search", "/docs", "/assets/{path+}", "/config.json", "/examples.json"}
    assert public == {"/health", "/openapi.json", "/answers/{id}"} | page


def test_whatever_is_not_said_to_be_public_needs_a_verified_user() -> None:
    assert TEMPLATE["Resources"]["Api"]["Properties"]["Auth"]["DefaultAuthorizer"] == "Cognito"


def test_a_function_answers_in_one_mode(stack: Template) -> None:
    for method, path, operation in operations(stack):
        if method == "OPTIONS":
            continue
        name, integration = function_of(operation), operation["x-amazon-apigateway-integration"]
        assert integration["type"] == "aws_proxy"
        if name in STREAMING:
            assert integration["responseTransferMode"] == "STREAM", path
            assert "/2021-11-15/" in integration["uri"]
            assert integration["uri"].endswith("/response-streaming-invocations")
            assert integration["timeoutInMillis"] == lambda_of(stack, name)["Timeout"] * 1000
        else:
            assert "responseTransferMode" not in integration, path
            assert integration["uri"].endswith("/invocations")


def test_a_browser_may_ask_first_without_a_token(stack: Template) -> None:
    asked = {path: operation for method, path, operation in operations(stack) if method == "OPTIONS"}
    assert asked.keys() == {path for _, path, _ in operations(stack)}
    for operation in asked.values():
        assert not operation.get("security")
        assert operation["x-amazon-apigateway-integration"]["type"] == "mock"


def test_cloudformations_word_for_streaming_would_give_a_buffered_route() -> None:
    def misspell(template: Template) -> None:
        events = template["Resources"]["SearchFunction"]["Properties"]["Events"]
        events["Health"]["Properties"]["ResponseTransferMode"] = "STREAM"

    [health] = [
        operation for method, path, operation in operations(expand(misspell)) if (method, path) == ("GET", "/health")
    ]
    assert "responseTransferMode" not in health["x-amazon-apigateway-integration"]


# --- API


def test_the_api_is_regional_and_has_one_stage_that_is_throttled_and_logged(stack: Template) -> None:
    [rest_api] = of_type(stack, "AWS::ApiGateway::RestApi").values()
    assert rest_api["EndpointConfiguration"]["Types"] == ["REGIONAL"]
    [stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    assert stage["StageName"] == "prod"
    assert stage["TracingEnabled"] is True
    [method] = stage["MethodSettings"]
    assert (method["ResourcePath"], method["HttpMethod"]) == ("/*", "*")
    assert method["ThrottlingRateLimit"] == method["ThrottlingBurstLimit"] == 100
    assert method["DataTraceEnabled"] is False


def test_the_access_log_is_json_and_times_streams_without_saying_what_was_asked(stack: Template) -> None:
    [stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    line = json.loads(stage["AccessLogSetting"]["Format"])
    assert {line["transferMode"], line["headersMs"], line["firstContentMs"]} == {
        f"$context.integration.{name}" for name in ("responseTransferMode", "timeToAllHeaders", "timeToFirstContent")
    }
    assert not re.search(
        r"querystring|\$context\.path\b|authorization|token", stage["AccessLogSetting"]["Format"], re.IGNORECASE
    )


def test_what_api_gateway_answers_by_itself_is_a_problem_as_ours_are(stack: Template) -> None:
    [rest_api] = of_type(stack, "AWS::ApiGateway::RestApi").values()
    for name, response in rest_api["Body"]["x-amazon-apigateway-gateway-responses"].items():
        problem = json.loads(response["responseTemplates"]["application/json"])
        assert problem["status"] == int(response["statusCode"]), name
        assert problem.keys() == problems.Problem.model_fields.keys() - {"errors"}
        headers = {key.rpartition(".")[2]: value for key, value in response["responseParameters"].items()}
        assert headers["Content-Type"] == "'application/problem+json'"
        assert headers["X-Content-Type-Options"] == "'nosniff'"
        assert headers["Cache-Control"] == "'no-store'"
        assert headers["X-Request-Id"] == "context.requestId"
        assert ("Retry-After" in headers) == (problem["status"] in (429, 503))


@pytest.mark.parametrize(("scope", "scopes"), [("", []), ("openid", ["openid"])])
def test_a_scope_decides_whether_id_or_access_tokens_are_taken(scope: str, scopes: list[str]) -> None:
    for _, _, operation in operations(deployed(AccessTokenScope=scope)):
        for security in operation.get("security", []):
            assert security.get("Cognito", scopes) == scopes


# --- sign-in


def test_a_pool_that_is_made_signs_the_page_in_without_a_secret() -> None:
    stack = deployed()
    [client] = of_type(stack, "AWS::Cognito::UserPoolClient").values()
    assert client["GenerateSecret"] is False
    assert client["AllowedOAuthFlows"] == ["code"]
    assert client["CallbackURLs"] == [f"https://<Api>.execute-api.{REGION}.amazonaws.com/prod/"]
    [domain] = of_type(stack, "AWS::Cognito::UserPoolDomain").values()
    assert domain["ManagedLoginVersion"] == 2
    assert domain["Domain"] == "quarry-0e1f2a3b4c5d"
    [style] = of_type(stack, "AWS::Cognito::ManagedLoginBranding").values()
    assert style["ClientId"] == "<UserPoolClient>"
    assert stack["Resources"]["UserPool"]["DeletionPolicy"] == "Retain"


def test_the_stage_tells_the_page_how_to_sign_in() -> None:
    def variables(**parameters: str) -> dict[str, str]:
        [stage] = of_type(deployed(**parameters), "AWS::ApiGateway::Stage").values()
        told: dict[str, str] = stage.get("Variables", {})
        return told

    assert variables() == {
        "signInDomain": f"https://<UserPoolLoginDomain>.auth.{REGION}.amazoncognito.com",
        "signInClientId": "<UserPoolClient>",
    }
    assert variables(**PARAMETER_SETS["all that exists is named"]) == {
        "signInDomain": "https://login.example.org",
        "signInClientId": "4vq8exampleclient0",
        "accessTokenScope": "quarry/search",
    }
    assert variables(UserPoolArn=USER_POOL) == {}


# --- functions


def lambda_of(stack: Template, name: str) -> dict[str, Any]:
    """The expanded properties of the function in `functions/<name>`."""
    return of_type(stack, "AWS::Lambda::Function")[name.title().replace("_", "") + "Function"]


def test_every_function_has_its_folder_and_a_log_that_ends(stack: Template) -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert set(functions(TEMPLATE)) == folders
    groups = of_type(stack, "AWS::Logs::LogGroup")
    for name in folders:
        function = lambda_of(stack, name)
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        group = groups[function["LoggingConfig"]["LogGroup"].strip("<>")]
        assert group["LogGroupName"] == f"/aws/lambda/{function['FunctionName']}"
    assert all(group["RetentionInDays"] == 30 for group in groups.values())


@pytest.mark.parametrize("name", functions(TEMPLATE))
def test_a_function_has_every_setting_and_no_other_and_starts_with_them(name: str, stack: Template) -> None:
    variables = lambda_of(stack, name)["Environment"]["Variables"]
    assert variables.keys() - NOT_SETTINGS == {
        field.upper() for field in Settings.model_fields.keys() - NOT_FOR_THE_TEMPLATE
    }
    settings = Settings.from_environment(
        {key: with_arns(str(value)) for key, value in variables.items() if key in variables.keys() - NOT_SETTINGS}
        | {"AWS_LAMBDA_FUNCTION_NAME": "quarry"}
    )
    assert settings.database_secret_arn == SECRET
    assert settings.identity == variables["IDENTITY"] == "gateway"


def with_arns(value: str) -> str:
    """A value in which stands an ARN for each secret that the stack makes; only AWS knows it."""
    return re.sub(r"<[\w.]*Secret[\w.]*>", SECRET, value)


def test_a_value_that_stands_in_the_template_is_the_settings_default() -> None:
    written = {
        name: value
        for name, value in TEMPLATE["Globals"]["Function"]["Environment"]["Variables"].items()
        if isinstance(value, str) and name not in NOT_SETTINGS
    }
    inside = {"AWS_LAMBDA_FUNCTION_NAME": "quarry"}
    assert Settings.from_environment(written | inside) == Settings.from_environment(inside)


def test_no_secret_stands_in_the_environment(stack: Template) -> None:
    for function in of_type(stack, "AWS::Lambda::Function").values():
        assert "{{resolve:" not in json.dumps(function)
    assert "{{resolve:" not in template_text()


def test_only_the_search_function_starts_through_the_wrapper(stack: Template) -> None:
    for name in functions(TEMPLATE):
        wrapper = lambda_of(stack, name)["Environment"]["Variables"].get("AWS_LAMBDA_EXEC_WRAPPER")
        assert wrapper == ("/opt/python/exec-wrapper" if name in STREAMING else None)


def test_a_search_ends_before_its_function_does_and_a_buffered_function_before_api_gateway_gives_up(
    stack: Template,
) -> None:
    search = lambda_of(stack, "search")
    variables = search["Environment"]["Variables"]
    for setting in ("RECORDS_ASK_SECONDS", "COMPANY_MAX_SECONDS"):
        assert float(variables[setting]) < search["Timeout"]
    # a second call waits for the first, and may then have to search itself
    assert WAIT_SECONDS + float(variables["PEOPLE_SEARCH_SECONDS"]) < search["Timeout"]
    for name in ROUTERS.keys() - STREAMING:
        assert lambda_of(stack, name)["Timeout"] <= 29


def test_snapshots_are_for_the_functions_behind_the_api() -> None:
    for switched_on in ("true", "false"):
        stack = deployed(SnapStart=switched_on)
        for name in functions(TEMPLATE):
            expected = "PublishedVersions" if switched_on == "true" and name in ROUTERS else "None"
            assert lambda_of(stack, name)["SnapStart"]["ApplyOn"] == expected


def versions(expanded: Template) -> set[str]:
    return set(of_type(expanded, "AWS::Lambda::Version"))


def test_new_code_a_new_layer_and_a_new_release_each_publish_new_versions() -> None:
    def new_layer(template: Template) -> None:
        template["Resources"]["QuarryLayer"]["Properties"]["ContentUri"] += "-2"

    def new_release(template: Template) -> None:
        template["Globals"]["Function"]["Environment"]["Variables"]["QUARRY_RELEASE"] = "2"

    def new_code(template: Template) -> None:
        for resource in template["Resources"].values():
            if "CodeUri" in resource.get("Properties", {}):
                resource["Properties"]["CodeUri"] += "-2"

    first = versions(expand())
    assert len(first) == len(functions(TEMPLATE))
    assert versions(expand()) == first
    for change in (new_layer, new_release, new_code):
        assert not versions(expand(change)) & first


def test_the_build_stamps_a_release_where_the_template_has_one() -> None:
    assert template_text().count("QUARRY_RELEASE: unstamped") == 2
    assert "QUARRY_RELEASE: unstamped" in (ROOT / "Makefile").read_text()


def test_no_function_changes_before_the_migration_of_its_release(stack: Template) -> None:
    [migration] = of_type(stack, "Custom::Migration").values()
    assert migration["ServiceToken"] == "<MigrateFunctionAliaslive>"
    waiting = {
        name
        for name, resource in stack["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function" and "Migration" in resource.get("DependsOn", [])
    }
    assert waiting == {lambda_resource(name).strip("<>") for name in functions(TEMPLATE)} - {"MigrateFunction"}
    assert migration["ServiceTimeout"] > lambda_of(stack, "migrate")["Timeout"]
    assert migration["QUARRY_RELEASE"] == lambda_of(stack, "search")["Environment"]["Variables"]["QUARRY_RELEASE"]


@pytest.mark.parametrize("shift", ["AllAtOnce", "Canary10Percent15Minutes"])
def test_requests_move_to_a_release_by_steps_and_back_on_alarms(shift: str) -> None:
    stack = deployed(TrafficShift=shift)
    groups = of_type(stack, "AWS::CodeDeploy::DeploymentGroup")
    assert set(groups) == {f"{lambda_resource(name).strip('<>')}DeploymentGroup" for name in ROUTERS}
    for group in groups.values():
        assert group["DeploymentConfigName"] == f"CodeDeployDefault.Lambda{shift}"
        alarms = {alarm["Name"] for alarm in group["AlarmConfiguration"]["Alarms"]}
        assert alarms == {"<FunctionErrorsAlarm>", "<ServerErrorsAlarm>"}
        assert group["AutoRollbackConfiguration"]["Enabled"] is True


# --- permissions


def test_a_function_reads_only_the_secrets_that_it_needs(stack: Template) -> None:
    readers = {
        name: {
            policy.strip("<>")
            for policy in of_type(stack, "AWS::IAM::Role")[role]["ManagedPolicyArns"]
            if policy.startswith("<")
        }
        for name in functions(TEMPLATE)
        if (role := lambda_of(stack, name)["Role"].strip("<>").partition(".")[0])
    }
    has_key = "ReadModelKey" in stack["Resources"]
    of_models = {"ReadModelKey", "CallBedrock"} & stack["Resources"].keys()
    makes_database = "DatabaseCluster" in stack["Resources"]
    for name, policies in readers.items():
        kind = KINDS.get(name, "Database") if makes_database else "Database"
        assert policies == {f"Read{kind}Secret"} | (of_models if name in CALL_A_MODEL else set())
    for name in ("ReadDatabaseSecret", *(["ReadModelKey"] if has_key else [])):
        [secret, *key] = of_type(stack, "AWS::IAM::ManagedPolicy")[name]["PolicyDocument"]["Statement"]
        assert secret["Action"] == "secretsmanager:GetSecretValue"
        assert isinstance(secret["Resource"], str)
        assert [statement["Action"] for statement in key] in ([], ["kms:Decrypt"])


def test_each_kind_of_work_may_have_a_secret_of_its_own() -> None:
    arns = {"LoadingSecretArn": f"{SECRET}-loading", "MigratingSecretArn": f"{SECRET}-migrating"}
    stack = deployed(**EXTERNAL, **arns)
    for name in functions(TEMPLATE):
        kind = KINDS.get(name, "Database")
        function = lambda_of(stack, name)
        assert function["Environment"]["Variables"]["DATABASE_SECRET_ARN"] == arns.get(f"{kind}SecretArn", SECRET)
        role = of_type(stack, "AWS::IAM::Role")[function["Role"].strip("<>").partition(".")[0]]
        assert [policy for policy in role["ManagedPolicyArns"] if policy.startswith("<")] == [f"<Read{kind}Secret>"]
        if kind != "Database":
            [statement] = of_type(stack, "AWS::IAM::ManagedPolicy")[f"Read{kind}Secret"]["PolicyDocument"]["Statement"]
            assert statement["Resource"] in (arns[f"{kind}SecretArn"], [arns[f"{kind}SecretArn"]])


@pytest.mark.parametrize("proxy", ["false", "true"])
@pytest.mark.parametrize("iam", ["false", "true"])
def test_what_is_made_of_the_database_is_opened_by_a_user_for_each_kind_of_work(iam: str, proxy: str) -> None:
    stack = deployed(AuroraIam=iam, AuroraProxy=proxy)
    by_iam, through_proxy = iam == "true", proxy == "true"
    made = {
        name: json.loads(secret["GenerateSecretString"]["SecretStringTemplate"])["username"]
        for name, secret in of_type(stack, "AWS::SecretsManager::Secret").items()
    }
    # a proxy logs in by password, whoever comes to it by IAM
    serving = {} if by_iam and not through_proxy else {"ServingSecret": "quarry_serve"}
    assert made == serving | ({} if by_iam else {"LoadingSecret": "quarry_load"})
    # a user logs in one way: where the other is chosen, the release before goes on with its own
    users = {
        "Database": "quarry_serve_iam" if by_iam and not through_proxy else "quarry_serve",
        "Loading": "quarry_load_iam" if by_iam else "quarry_load",
    }
    for name in functions(TEMPLATE):
        kind = KINDS.get(name, "Database")
        variables = lambda_of(stack, name)["Environment"]["Variables"]
        user, _, place = variables["DATABASE_URL"].removeprefix("postgresql://").rpartition("@")
        assert user == users.get(kind, "")
        assert place.startswith("<DatabaseProxy." if through_proxy and kind == "Database" else "<DatabaseCluster.")
        assert place.endswith("?sslmode=verify-full")
        [statement, *_] = of_type(stack, "AWS::IAM::ManagedPolicy")[f"Read{kind}Secret"]["PolicyDocument"]["Statement"]
        if kind == "Migrating":
            master = "<DatabaseCluster.MasterUserSecret.SecretArn>"
            assert (variables["DATABASE_IAM"], variables["DATABASE_SECRET_ARN"]) == ("false", master)
            assert statement["Resource"] == [master, *(f"<{secret}>" for secret in made)]
            settings = Settings.from_environment({"DATABASE_LOGINS": with_arns(variables["DATABASE_LOGINS"])})
            assert settings.logins == {
                "serving": SECRET if "ServingSecret" in made else "iam:quarry_serve_iam",
                "loading": SECRET if "LoadingSecret" in made else "iam:quarry_load_iam",
            }
            [migration] = of_type(stack, "Custom::Migration").values()
            assert migration[LOGINS] == variables["DATABASE_LOGINS"]
            continue
        assert variables["DATABASE_IAM"] == iam
        if by_iam:
            assert variables["DATABASE_SECRET_ARN"] == ""
            assert statement["Action"] == "rds-db:connect"
            door = "<<DatabaseProxy.DBProxyArn>[6]>" if "Proxy" in place else "<DatabaseCluster.DBClusterResourceId>"
            assert statement["Resource"] == f"arn:aws:rds-db:{REGION}:123456789012:dbuser:{door}/{user}"
        else:
            assert [made[variables["DATABASE_SECRET_ARN"].strip("<>")], statement["Resource"]] == [
                user,
                variables["DATABASE_SECRET_ARN"],
            ]


def test_no_action_and_no_resource_is_a_wildcard(stack: Template) -> None:
    found = list(statements(stack))
    assert len(found) >= len(of_type(stack, "AWS::IAM::ManagedPolicy"))
    for name, statement in found:
        for given in (statement["Action"], statement["Resource"]):
            # of the stack's own bucket, any object
            assert "*" not in json.dumps(given).replace("<DataBucket.Arn>/*", ""), name
        assert statement["Effect"] == "Allow"
        assert "NotAction" not in statement
        assert "NotResource" not in statement


def test_only_api_gateway_invokes_the_functions_and_only_for_this_api_but_for_the_bucket(stack: Template) -> None:
    permissions = of_type(stack, "AWS::Lambda::Permission")
    bucket = permissions.pop("LoadFunctionObjectCreatedPermission")
    assert bucket["Principal"] == "events.amazonaws.com"
    assert bucket["SourceArn"] == "<LoadFunctionObjectCreated.Arn>"
    for permission in permissions.values():
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["FunctionName"].endswith("FunctionAliaslive>")
        assert ":<Api>/" in permission["SourceArn"]


# --- schedules, alarms


def test_scheduled_runs_are_tried_again_and_then_kept(stack: Template) -> None:
    schedules = of_type(stack, "AWS::Scheduler::Schedule")
    assert {schedule["Target"]["Arn"] for schedule in schedules.values()} == {
        "<CleanupFunctionAliaslive>",
        "<EmbedFunctionAliaslive>",
    }
    for schedule in schedules.values():
        assert "Name" not in schedule
        assert schedule["Target"]["DeadLetterConfig"] == {"Arn": "<DeadLetters.Arn>"}
        assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] > 0
    for name in ("cleanup", "embed"):
        assert lambda_of(stack, name)["DeadLetterConfig"] == {"TargetArn": "<DeadLetters.Arn>"}
    for config in of_type(stack, "AWS::Lambda::EventInvokeConfig").values():
        assert config["Qualifier"].endswith("Aliaslive.Version>") or config["Qualifier"] == "live"


def test_every_new_object_but_a_report_is_loaded_or_kept(stack: Template) -> None:
    [rule] = of_type(stack, "AWS::Events::Rule").values()
    assert rule["EventPattern"]["detail"] == {
        "bucket": {"name": ["<DataBucket>"]},
        "object": {"key": [{"anything-but": {"suffix": ".report.json"}}]},
    }
    [target] = rule["Targets"]
    assert target["Arn"] == "<LoadFunctionAliaslive>"
    assert target["DeadLetterConfig"]["Arn"] == "<DeadLetters.Arn>"
    assert lambda_of(stack, "load")["DeadLetterConfig"] == {"TargetArn": "<DeadLetters.Arn>"}


def test_the_bucket_is_private_encrypted_emptied_and_reached_by_tls_alone(stack: Template) -> None:
    [bucket] = of_type(stack, "AWS::S3::Bucket").values()
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["BucketEncryption"]
    assert bucket["LifecycleConfiguration"]["Rules"][0]["Status"] == "Enabled"
    assert bucket["NotificationConfiguration"]["EventBridgeConfiguration"] == {"EventBridgeEnabled": True}
    [policy] = of_type(stack, "AWS::S3::BucketPolicy").values()
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_what_calls_bedrock_may_call_the_named_models_and_no_other() -> None:
    named = {"ModelProvider": "bedrock", "BedrockModel": "amazon.nova-pro-v1:0"}
    profile = f"arn:aws:bedrock:{REGION}:123456789012:inference-profile/us.amazon.nova-pro-v1:0"
    embedding = f"arn:aws:bedrock:{REGION}::foundation-model/amazon.titan-embed-text-v2:0"
    for more, resource in (
        ({}, [f"arn:aws:bedrock:{REGION}::foundation-model/amazon.nova-pro-v1:0"]),
        ({"BedrockModelArns": profile}, [profile]),
    ):
        stack = deployed(**named, **more)
        [chat, embed] = of_type(stack, "AWS::IAM::ManagedPolicy")["CallBedrock"]["PolicyDocument"]["Statement"]
        assert (chat["Resource"], embed["Resource"]) == (resource, embedding)
        assert chat["Action"] == ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
        assert embed["Action"] == "bedrock:InvokeModel"
        variables = lambda_of(stack, "search")["Environment"]["Variables"]
        settings = Settings.from_environment(
            {name: str(value) for name, value in variables.items() if "<" not in str(value) and "SECRET" not in name}
        )
        assert (settings.embeddings, settings.embedding_dimensions) == ("bedrock", 1024)


def test_a_function_has_the_layers_of_what_it_imports_and_the_local_model_where_no_other_is_named(
    stack: Template,
) -> None:
    embeds_here = lambda_of(stack, "search")["Environment"]["Variables"]["EMBEDDINGS"] == "local"
    having = {
        layer: {
            name
            for name in functions(TEMPLATE)
            if any(each.startswith(f"<{layer}") for each in lambda_of(stack, name)["Layers"])
        }
        for layer in of_type(TEMPLATE, "AWS::Serverless::LayerVersion")
    }
    assert having == {
        "QuarryLayer": functions(TEMPLATE).keys(),
        "AgentsLayer": {"search"},
        "EmbeddingLayer": CALL_A_MODEL if embeds_here else set(),
    }


def test_alarms_watch_what_exists_and_tell_their_topic(stack: Template) -> None:
    alarms = of_type(stack, "AWS::CloudWatch::Alarm")
    assert len(alarms) == 7
    has_topic = any(alarm.get("AlarmActions") for alarm in alarms.values())
    for alarm in alarms.values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert bool(alarm.get("AlarmActions")) is bool(alarm.get("OKActions")) is has_topic
    watched = json.dumps(alarms)
    for metric in ("Errors", "5XXError", "Throttles", "FirstContent", "ApproximateNumberOfMessagesVisible"):
        assert f'"{metric}"' in watched
    for name in ROUTERS:
        for watching in ("FunctionErrorsAlarm", "ThrottlesAlarm"):
            assert lambda_resource(name) in json.dumps(alarms[watching])


def lambda_resource(name: str) -> str:
    return f"<{name.title().replace('_', '')}Function>"


def test_the_first_content_that_is_logged_is_what_is_watched(stack: Template) -> None:
    [metric_filter] = of_type(stack, "AWS::Logs::MetricFilter").values()
    [transformation] = metric_filter["MetricTransformations"]
    alarm = of_type(stack, "AWS::CloudWatch::Alarm")["SlowFirstContentAlarm"]
    assert (alarm["Namespace"], alarm["MetricName"]) == (
        transformation["MetricNamespace"],
        transformation["MetricName"],
    )
    [stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    assert transformation["MetricValue"].removeprefix("$.") in json.loads(stage["AccessLogSetting"]["Format"])


def test_an_alarm_names_its_section_of_the_runbook() -> None:
    alarms = {
        name: each["Properties"] for name, each in TEMPLATE["Resources"].items() if each["Type"].endswith("::Alarm")
    }
    _, _, runbook = (ROOT / "docs/operations.md").read_text().partition("\n## Alarms\n")
    sections = re.findall(r"(?:^### (\w+)$)|(?:^## )", runbook, re.MULTILINE)
    assert {*sections[: sections.index("")]} == {*alarms}
    for name, alarm in alarms.items():
        assert alarm["AlarmDescription"].endswith(f"What to do: docs/operations.md, {name}."), name


def test_the_dashboard_and_the_page_show_every_metric_by_what_it_is_counted_by(stack: Template) -> None:
    [dashboard] = of_type(stack, "AWS::CloudWatch::Dashboard").values()
    ours = [each for each in shown_metrics(json.loads(dashboard["DashboardBody"])) if each[0] == "Quarry"]
    known = {metric.name: metric for metric in METRICS}
    assert {name for _, name, *_ in ours} == {*known}
    for _, name, *pairs in ours:
        dimensions = dict(zip(pairs[::2], pairs[1::2], strict=True))
        assert dimensions.keys() == {"service", "function_name"} | ({"domain"} if known[name].by_domain else set()), (
            name
        )
        assert dimensions["service"] == SERVICE
        assert dimensions.get("domain", DOMAINS[0]) in DOMAINS
    page = (ROOT / "docs/operations.md").read_text()
    assert [name for name in known if f"`{name}`" not in page] == []


def shown_metrics(body: dict[str, Any]) -> Iterator[list[str]]:
    """The metrics of a dashboard, written out: `.` stands for what is above, `...` for all but the last."""
    for widget in body["widgets"]:
        above: list[str] = []
        for each in widget["properties"].get("metrics", ()):
            words = [word for word in each if isinstance(word, str)]
            if words[0] == "...":
                words = [*above[: len(above) - len(words) + 1], *words[1:]]
            above = [above[place] if word == "." else word for place, word in enumerate(words)]
            yield above


def test_the_dashboard_is_json_about_what_exists(stack: Template) -> None:
    [dashboard] = of_type(stack, "AWS::CloudWatch::Dashboard").values()
    body = json.loads(dashboard["DashboardBody"])
    shown = json.dumps(body)
    for name in functions(TEMPLATE):
        assert lambda_resource(name) in shown
    [widget] = [widget for widget in body["widgets"] if widget["type"] == "alarm"]
    assert len(widget["properties"]["alarms"]) == len(of_type(stack, "AWS::CloudWatch::Alarm"))


# --- database and network


def kinds(stack: Template) -> set[str]:
    return {resource["Type"].rpartition("::")[0] for resource in stack["Resources"].values()}


def test_a_database_that_is_given_needs_neither_network_nor_cluster() -> None:
    stack = deployed(**EXTERNAL)
    assert not {"AWS::RDS", "AWS::EC2"} & kinds(stack)
    assert all("VpcConfig" not in function for function in of_type(stack, "AWS::Lambda::Function").values())
    assert lambda_of(stack, "search")["Environment"]["Variables"]["DATABASE_URL"] == ""


def test_a_cluster_that_is_made_is_encrypted_kept_and_reached_by_the_functions_alone() -> None:
    stack = deployed()
    [cluster] = of_type(stack, "AWS::RDS::DBCluster").values()
    assert cluster["StorageEncrypted"] is True
    assert cluster["ManageMasterUserPassword"] is True
    assert cluster["ServerlessV2ScalingConfiguration"] == {
        "MinCapacity": 0,
        "MaxCapacity": 4,
        "SecondsUntilAutoPause": 600,
    }
    assert stack["Resources"]["DatabaseCluster"]["DeletionPolicy"] == "Snapshot"
    [ingress] = of_type(stack, "AWS::EC2::SecurityGroup")["DatabaseSecurityGroup"]["SecurityGroupIngress"]
    assert ingress["SourceSecurityGroupId"] == "<FunctionSecurityGroup>"
    for function in of_type(stack, "AWS::Lambda::Function").values():
        assert function["VpcConfig"]["SubnetIds"] == ["<PrivateSubnetA>", "<PrivateSubnetB>"]
        assert function["Environment"]["Variables"]["DATABASE_POOLED"] == "false"


def test_a_cluster_made_from_a_snapshot_has_its_user_and_database() -> None:
    [cluster] = of_type(deployed(AuroraSnapshot="quarry-before-it-went-wrong"), "AWS::RDS::DBCluster").values()
    assert cluster["SnapshotIdentifier"] == "quarry-before-it-went-wrong"
    assert not {"DatabaseName", "MasterUsername"} & cluster.keys()
    assert cluster["ManageMasterUserPassword"] is True


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [({}, "15"), ({"AuroraMinCapacity": "0.5"}, "0"), ({"AuroraProxy": "true"}, "0"), (EXTERNAL, "0")],
)
def test_a_function_knows_whether_its_database_pauses(parameters: dict[str, str], seconds: str) -> None:
    search = lambda_of(deployed(**parameters), "search")
    assert search["Environment"]["Variables"]["DATABASE_WAKE_SECONDS"] == seconds


@pytest.mark.parametrize(
    ("parameters", "host"),
    [
        ({}, None),
        ({"AuroraReaders": "3"}, "<DatabaseCluster.ReadEndpoint.Address>"),
        ({"AuroraReaders": "3", "AuroraProxy": "true"}, "<DatabaseReaderProxy.Endpoint>"),
        (EXTERNAL, None),
        (EXTERNAL | {"DatabaseReaderUrl": "postgresql://replica.example.org:5432/"}, "replica.example.org"),
    ],
)
def test_searches_go_to_the_readers_that_there_are(parameters: dict[str, str], host: str | None) -> None:
    stack = deployed(**parameters)
    url = lambda_of(stack, "search")["Environment"]["Variables"]["DATABASE_READER_URL"]
    assert f"{host}:5432/" in url if host else url == ""
    readers = of_type(stack, "AWS::ApplicationAutoScaling::ScalableTarget").values()
    assert [each["MaxCapacity"] for each in readers] == (["3"] if "AuroraReaders" in parameters else [])
    assert len(of_type(stack, "AWS::RDS::DBInstance")) == (
        0 if parameters.keys() & EXTERNAL.keys() else 1 + len(readers)
    )


def test_migrations_and_loads_go_past_the_proxy() -> None:
    stack = deployed(**PARAMETER_SETS["Aurora behind a proxy in a given network"])
    assert "AWS::EC2::VPC" not in {resource["Type"] for resource in stack["Resources"].values()}
    for name in functions(TEMPLATE):
        variables = lambda_of(stack, name)["Environment"]["Variables"]
        host = "<DatabaseCluster.Endpoint.Address>" if name in KINDS else "<DatabaseProxy.Endpoint>"
        assert f"{host}:" in variables["DATABASE_URL"]
        assert variables["DATABASE_POOLED"] == "true"
    assert (
        "SecondsUntilAutoPause"
        not in of_type(stack, "AWS::RDS::DBCluster")["DatabaseCluster"]["ServerlessV2ScalingConfiguration"]
    )


# --- the files themselves


def references(value: Any) -> Iterator[str]:
    """Names of the parameters and resources that a part of the template refers to."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "Ref":
                yield item
            elif key == "Fn::Sub":
                yield from re.findall(r"\$\{(\w+)", item if isinstance(item, str) else item[0])
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_every_parameter_is_used_described_in_a_group_and_has_a_default() -> None:
    parameters = TEMPLATE["Parameters"]
    used = set(references({name: part for name, part in TEMPLATE.items() if name != "Parameters"}))
    assert set(parameters) <= used
    assert all("Default" in parameter for parameter in parameters.values())
    groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(parameters)
    assert groups[0]["Parameters"] == [*deploy.PARAMETERS]


def test_every_condition_is_used() -> None:
    text = template_text()
    for name in TEMPLATE["Conditions"]:
        assert len(re.findall(rf"\b{name}\b", text)) > 1, name


def test_samconfig_sets_parameters_that_exist_and_names_no_account() -> None:
    text = (ROOT / "samconfig.toml").read_text()
    assert not re.search(r"\d{12}", text)
    for environment in tomllib.loads(text).values():
        if isinstance(environment, dict):
            pairs = shlex.split(environment["deploy"]["parameters"]["parameter_overrides"])
            deployed(**EXTERNAL, **dict(pair.split("=", 1) for pair in pairs))


def test_every_parameter_that_the_guide_names_exists() -> None:
    named = set(re.findall(r"\b([A-Z][a-z][A-Za-z]+)=", (ROOT / "docs" / "deploy.md").read_text()))
    known = set(TEMPLATE["Parameters"]) | {"Name", "Value", "OutputKey", "MinCapacity", "MaxCapacity"}
    assert named
    assert named <= known, named - known
