"""template.yaml agrees with the code, and becomes the intended stack in CloudFormation."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from quarry.platform.settings import JSON_VARIABLE, Settings
from quarry.runs.idempotency import WAIT_SECONDS
from quarry.services.services import TUNED_NAMES
from quarry.web import problems
from tools import gateway
from tools.rehearsal.template import (
    MODEL_KEY,
    OWN_DATA,
    REGION,
    TOPIC,
    Template,
    broken_rules,
    deployed,
    deployed_data,
    expand,
    functions,
    nested,
    of_type,
    operations,
    outputs_of,
    read_template,
    secret_arn,
    statements,
    template_text,
)

TEMPLATE = read_template()
ON_DATA = sorted(set(functions(TEMPLATE)) - {"check"})
"""The functions that use the database."""

CALL_A_MODEL = {"admin", "search", "embed"}
KINDS = {"migrate": "Migrate", "admin": "Migrate"} | dict.fromkeys(("cleanup", "embed", "load"), "Load")
"""The policy of a function's work that does not serve."""

# Set by Lambda, local alone, or secrets, which come by their ARN.
NOT_FOR_THE_TEMPLATE = {
    "quarry_allowed_hosts",
    "quarry_data_dir",
    "openai_api_key",
    "aws_lambda_function_name",
    "aws_lambda_function_version",
    "aws_lambda_log_stream_name",
    "aws_sam_local",
    *TUNED_NAMES,  # what the environment sets would stand above what is stored
}
NOT_SETTINGS = {"AWS_LAMBDA_EXEC_WRAPPER", "QUARRY_RELEASE", "CHECKED_FUNCTION"}
"""Variables of the functions that are none."""

TEMPLATE_BYTES = 38_000

PARAMETER_SETS: dict[str, dict[str, str]] = {
    "everything is made": outputs_of(deployed_data(ModelProvider="openai"))
    | {"ModelProvider": "openai", "OpenAISecretArn": MODEL_KEY},
    "all that exists is named": OWN_DATA
    | {
        "SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6a7b",
        "SecurityGroupIds": "sg-0a1b2c3d",
        "DatabasePooled": "true",
        "DatabaseReaderUrl": "postgresql://replica.example.org:5432/",
        "ModelProvider": "openai",
        "OpenAISecretArn": MODEL_KEY,
        "UserPoolClientId": "4vq8exampleclient0",
        "AccessTokenScope": "city/search",
        "CommandLineTokens": "false",
        "PageUrl": "https://search.example.org/",
        "AllowedOrigin": "https://city.example.org",
        "WebAclArn": f"arn:aws:wafv2:{REGION}:123456789012:regional/webacl/quarry/1",
        "SecretsKeyArn": f"arn:aws:kms:{REGION}:123456789012:key/1",
        "AlarmTopicArn": TOPIC,
        "Settings": '{"MODEL_PROMPT_PRICE": 0.15, "MODEL_COMPLETION_PRICE": 0.6, "INITIAL_CREDITS": 25}',
        "SnapStart": "PublishedVersions",
        "SearchConcurrencyMax": "20",
        "LogLevel": "WARNING",
    },
    "Aurora behind a proxy in a given network, by IAM": outputs_of(
        deployed_data(
            VpcId="vpc-0a1b2c3d",
            SubnetIds="subnet-0a1b2c3d,subnet-4e5f6a7b",
            AuroraProxy="true",
            AuroraIam="true",
            AuroraMinCapacity="0.5",
            AuroraReaders="15",
        )
    )
    | {"ModelProvider": "openai", "OpenAIBaseUrl": "https://models.example.org/v1", "SearchProvisioned": "2"},
}


@pytest.fixture(scope="module", params=list(PARAMETER_SETS))
def stack(request: pytest.FixtureRequest) -> Template:
    """What is deployed with one of the parameter sets."""
    return deployed(**PARAMETER_SETS[request.param])


# --- the file


def test_parameters_that_belong_together_must_be_given_together() -> None:
    assert [broken_rules("template", given) for given in PARAMETER_SETS.values()] == [set()] * len(PARAMETER_SETS)
    missing = dict.fromkeys(OWN_DATA, "")
    broken = {
        "TheDatabaseIsNamed": missing,
        "PasswordsOrRoles": OWN_DATA | {"LoadingSecretArn": ""},
        "UsersSignIn": OWN_DATA | {"UserPoolId": ""},
        "SubnetsAndSecurityGroups": OWN_DATA | {"SubnetIds": "subnet-1a,subnet-2b"},
        "OpenAIOrACompatibleServer": OWN_DATA | {"OpenAISecretArn": MODEL_KEY},
        "SnapshotsOrRunningEnvironments": OWN_DATA | {"SnapStart": "PublishedVersions", "SearchProvisioned": "1"},
    }
    assert broken.keys() == TEMPLATE["Rules"].keys()
    for rule, given in broken.items():
        assert rule in broken_rules("template", given)
    assert broken_rules("template", OWN_DATA | {"ModelProvider": "openai"}) == {"OpenAIOrACompatibleServer"}


# --- routes


def function_of(operation: dict[str, Any]) -> str:
    """The folder of the function that an expanded operation leads to."""
    uri = operation["x-amazon-apigateway-integration"]["uri"]
    found = re.search(r":function:quarry-([\w-]+):live/", uri)
    assert found, uri
    return found[1].replace("-", "_")


def test_every_route_leads_to_its_function_and_is_public_if_it_needs_no_user(stack: Template) -> None:
    reached = set()
    for method, path, operation in operations(stack):
        if method != "OPTIONS":
            [security] = operation["security"]
            assert security.keys() in ({"Cognito"}, {"NONE"})
            reached.add(gateway.Route(path, method, function_of(operation), "NONE" in security))
    assert reached == set(gateway.routes())


def test_the_public_routes_are_those_of_the_contract() -> None:
    page = {"/", "/search", "/docs", "/assets/{path+}", "/config.json", "/embed/quarry-ask.js"}
    public = {route.path for route in gateway.routes() if route.is_public}
    assert public == {"/health", "/openapi.json", "/answers/{id}"} | page


def test_a_function_answers_in_one_mode(stack: Template) -> None:
    for method, path, operation in operations(stack):
        if method == "OPTIONS":
            continue
        name, integration = function_of(operation), operation["x-amazon-apigateway-integration"]
        assert integration["type"] == "aws_proxy"
        if name in gateway.STREAMING:
            assert integration["responseTransferMode"] == "STREAM", path
            assert "/2021-11-15/" in integration["uri"]
            assert integration["uri"].endswith("/response-streaming-invocations")
            assert integration["timeoutInMillis"] == lambda_of(stack, name)["Timeout"] * 1000
        else:
            assert "responseTransferMode" not in integration, path
            assert integration["uri"].endswith("/invocations")


# --- API


def test_the_api_is_regional_and_compresses_and_has_one_stage_that_is_throttled_by_method(stack: Template) -> None:
    [rest_api] = of_type(stack, "AWS::ApiGateway::RestApi").values()
    assert rest_api["EndpointConfiguration"]["Types"] == ["REGIONAL"]
    assert rest_api["MinimumCompressionSize"] == 1024
    [stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    assert stage["StageName"] == "prod"
    assert stage["TracingEnabled"] is True
    limits = {method["ResourcePath"]: method for method in stage["MethodSettings"]}
    everything = limits.pop("/*")
    assert everything["ThrottlingRateLimit"] == everything["ThrottlingBurstLimit"] == 100
    public = {route.path for route in gateway.routes() if route.is_public} - {"/assets/{path+}", "/embed/quarry-ask.js"}
    assert {re.sub("^/(?=.)", "", path).replace("~1", "/") for path in limits} == public
    assert {each["ThrottlingRateLimit"] for each in limits.values()} == {20}
    # metrics of each method are billed, and a data trace would log questions
    assert not {"MetricsEnabled", "DataTraceEnabled"} & {name for each in stage["MethodSettings"] for name in each}


def test_api_gateways_own_errors_have_the_form_of_ours(stack: Template) -> None:
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


@pytest.mark.parametrize(
    ("parameters", "scopes"),
    [
        ({}, ["quarry/search", "aws.cognito.signin.user.admin"]),
        ({"AccessTokenScope": "city/search", "CommandLineTokens": "false"}, ["city/search"]),
    ],
)
def test_access_tokens_with_a_scope_are_accepted_but_no_id_tokens(
    parameters: dict[str, str], scopes: list[str]
) -> None:
    stack = deployed(**OWN_DATA, **parameters)
    for _, _, operation in operations(stack):
        for security in operation.get("security", []):
            assert security.get("Cognito", scopes) == scopes
    [client] = of_type(stack, "AWS::Cognito::UserPoolClient").values()
    assert client["AllowedOAuthScopes"] == ["openid", "email", scopes[0]]


# --- sign-in


def test_users_sign_in_by_the_providers_that_are_named() -> None:
    def providers(**given: str) -> list[str]:
        client = of_type(deployed(**OWN_DATA, **given), "AWS::Cognito::UserPoolClient")["UserPoolClient"]
        return list(client["SupportedIdentityProviders"])

    assert providers() == ["COGNITO"]
    assert providers(IdentityProviders="COGNITO,Okta") == ["COGNITO", "Okta"]


def test_the_stage_gives_the_page_its_sign_in_settings() -> None:
    def variables(**parameters: str) -> dict[str, str]:
        [stage] = of_type(deployed(**parameters), "AWS::ApiGateway::Stage").values()
        found: dict[str, str] = stage["Variables"]
        return found

    login = {"signInDomain": "https://login.example.org"}
    assert variables(**OWN_DATA) == login | {"signInClientId": "<UserPoolClient>", "accessTokenScope": "quarry/search"}
    named = PARAMETER_SETS["all that exists is named"]
    assert variables(**named) == login | {"signInClientId": "4vq8exampleclient0", "accessTokenScope": "city/search"}
    assert not of_type(deployed(**named), "AWS::Cognito::UserPoolClient")


# --- functions


def test_every_function_starts_with_its_settings(stack: Template) -> None:
    for name in ON_DATA:
        variables = lambda_of(stack, name)["Environment"]["Variables"].items()
        given = {variable: str(value) for variable, value in variables if variable not in NOT_SETTINGS}
        fields = {field.upper() for field in Settings.model_fields.keys() - NOT_FOR_THE_TEMPLATE}
        assert given.keys() <= fields | {JSON_VARIABLE}
        settings = Settings.from_environment(given | {"AWS_LAMBDA_FUNCTION_NAME": "quarry"})
        assert settings.initial_credits == json.loads(given[JSON_VARIABLE]).get("INITIAL_CREDITS", 10)
        assert settings.identity == given["IDENTITY"] == "gateway"
        assert settings.database_iam is not bool(settings.database_secret_arn)


def test_no_secret_is_in_the_environment(stack: Template) -> None:
    for function in of_type(stack, "AWS::Lambda::Function").values():
        assert "{{resolve:" not in json.dumps(function)
    assert "{{resolve:" not in template_text()


def test_a_search_ends_before_its_function_does_and_a_buffered_function_before_api_gateway_gives_up(
    stack: Template,
) -> None:
    search, settings = lambda_of(stack, "search"), Settings.from_environment({})
    assert max(settings.records_ask_seconds, settings.company_max_seconds) < search["Timeout"]
    # a second call waits for the first, and may then have to search itself
    assert WAIT_SECONDS + settings.people_search_seconds < search["Timeout"]
    for name in gateway.SERVED.keys() - gateway.STREAMING:
        assert lambda_of(stack, name)["Timeout"] <= 29


def versions(expanded: Template) -> set[str]:
    """Of the functions that an alias is for; `check` is called as it is."""
    return {name for name in of_type(expanded, "AWS::Lambda::Version") if not name.startswith("Check")}


def test_a_new_layer_alone_publishes_new_versions() -> None:
    def new_layer(template: Template) -> None:
        template["Resources"]["QuarryLayer"]["Properties"]["ContentUri"] += "-2"

    first = versions(expand())
    assert len(first) == len(ON_DATA)
    assert not versions(expand(new_layer)) & first


def test_no_function_changes_before_the_migration_of_its_release(stack: Template) -> None:
    [migration] = of_type(stack, "Custom::Migration").values()
    assert migration["ServiceToken"] == "<MigrateFunctionAliaslive>"
    waiting = {
        name
        for name, resource in stack["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function" and "Migration" in resource.get("DependsOn", [])
    }
    assert waiting == {lambda_resource(name).strip("<>") for name in functions(TEMPLATE)} - {
        "MigrateFunction",
        "CheckFunction",
    }
    assert stack["Resources"]["Migration"]["DeletionPolicy"] == "Retain"  # so no function that reaches nothing is asked
    assert migration["ServiceTimeout"] > lambda_of(stack, "migrate")["Timeout"]
    assert migration["QUARRY_RELEASE"] == lambda_of(stack, "search")["Environment"]["Variables"]["QUARRY_RELEASE"]


def test_traffic_shifts_to_a_release_in_steps_and_back_on_alarms() -> None:
    shift = "Canary10Percent30Minutes"
    stack = deployed(**OWN_DATA, TrafficShift=shift)
    groups = of_type(stack, "AWS::CodeDeploy::DeploymentGroup")
    assert set(groups) == {f"{lambda_resource(name).strip('<>')}DeploymentGroup" for name in gateway.SERVED}
    for name, group in groups.items():
        assert group["DeploymentConfigName"] == f"CodeDeployDefault.Lambda{shift}"
        alarms = {alarm["Name"] for alarm in group["AlarmConfiguration"]["Alarms"]}
        of_searches = (
            {"<Rollback.Outputs.ReleaseSearches>", "<Rollback.Outputs.ReleaseErrors>"}
            if name.startswith("Search")
            else set()
        )
        assert alarms == {"<Rollback.Outputs.FunctionErrors>", "<Rollback.Outputs.ServerErrors>"} | of_searches
        assert group["AutoRollbackConfiguration"]["Enabled"] is True


def test_a_release_is_checked_before_it_gets_traffic(stack: Template) -> None:
    update = stack["Resources"]["SearchFunctionAliaslive"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
    assert update["BeforeAllowTrafficHook"] == "<CheckFunction>"
    check = lambda_of(stack, "check")
    assert check["FunctionName"] == "CodeDeployHook_quarry"  # which CodeDeploy's role may invoke
    version = check["Environment"]["Variables"]["CHECKED_FUNCTION"]
    assert version.startswith("<SearchFunctionVersion")
    assert "VpcConfig" not in check
    [policy] = of_type(stack, "AWS::IAM::Role")["CheckFunctionRole"]["Policies"]
    assert {each["Action"]: each["Resource"] for each in policy["PolicyDocument"]["Statement"]} == {
        "lambda:InvokeFunction": version,
        "codedeploy:PutLifecycleEventHookExecutionStatus": f"arn:aws:codedeploy:{REGION}:123456789012:deploymentgroup:"
        "<ServerlessDeploymentApplication>/<SearchFunctionDeploymentGroup>",
    }


# --- permissions


def test_a_function_only_has_database_access_for_its_own_work(stack: Template) -> None:
    of_models = {"ReadModelKey", "CallBedrock"} & stack["Resources"].keys()
    roles, policies = of_type(stack, "AWS::IAM::Role"), of_type(stack, "AWS::IAM::ManagedPolicy")
    for name in ON_DATA:
        function = lambda_of(stack, name)
        attached = {
            each.strip("<>") for each in roles[function["Role"].strip("<>").partition(".")[0]]["ManagedPolicyArns"]
        }
        kind = KINDS.get(name, "Serve")
        assert attached & policies.keys() == {kind} | (of_models if name in CALL_A_MODEL else set())
        settings = function["Environment"]["Variables"]
        [opened, *key] = policies[kind]["PolicyDocument"]["Statement"]
        if settings["DATABASE_IAM"] == "true":
            assert opened["Action"] == "rds-db:connect"
            assert opened["Resource"].rpartition("/")[2] == settings["DATABASE_URL"].split("//")[1].split("@")[0]
        else:
            assert opened["Action"] == "secretsmanager:GetSecretValue"
            assert settings["DATABASE_SECRET_ARN"] in opened["Resource"]
        assert [statement["Action"] for statement in key] in ([], ["kms:Decrypt"])


@pytest.mark.parametrize("proxy", ["false", "true"])
@pytest.mark.parametrize("iam", ["false", "true"])
def test_a_cluster_has_a_user_for_each_kind_of_work(iam: str, proxy: str) -> None:
    by_iam, through_proxy = iam == "true", proxy == "true"
    data = deployed_data(AuroraIam=iam, AuroraProxy=proxy, AuroraMinCapacity="1")
    stack = deployed(**outputs_of(data))
    made = {
        name: json.loads(secret["GenerateSecretString"]["SecretStringTemplate"])["username"]
        for name, secret in of_type(data, "AWS::SecretsManager::Secret").items()
    }
    # a proxy logs in by password, whoever comes to it by IAM
    serving = {} if by_iam and not through_proxy else {"ServingSecret": "quarry_serve"}
    assert made == serving | ({} if by_iam else {"LoadingSecret": "quarry_load"})
    # a user logs in one way: where the other is chosen, the release before goes on with its own
    users = {
        "Serve": "quarry_serve_iam" if by_iam and not through_proxy else "quarry_serve",
        "Load": "quarry_load_iam" if by_iam else "quarry_load",
        "Migrate": "",
    }
    for name in ON_DATA:
        kind = KINDS.get(name, "Serve")
        variables = lambda_of(stack, name)["Environment"]["Variables"]
        user, _, place = variables["DATABASE_URL"].removeprefix("postgresql://").rpartition("@")
        assert user == users[kind]
        # migrations and loads go past the proxy
        assert place.startswith("<DatabaseProxy." if through_proxy and kind == "Serve" else "<DatabaseCluster.")
        assert place.endswith("?sslmode=verify-full")
        assert variables["DATABASE_IAM"] == ("false" if kind == "Migrate" else iam)
    variables = lambda_of(stack, "migrate")["Environment"]["Variables"]
    owner = secret_arn("DatabaseCluster.MasterUserSecret.SecretArn")
    assert variables["DATABASE_SECRET_ARN"] == owner
    [statement] = of_type(stack, "AWS::IAM::ManagedPolicy")["Migrate"]["PolicyDocument"]["Statement"]
    assert statement["Resource"] == [owner, *map(secret_arn, made)]
    assert Settings.from_environment({"DATABASE_LOGINS": variables["DATABASE_LOGINS"]}).logins == {
        "serving": secret_arn("ServingSecret") if "ServingSecret" in made else "iam:quarry_serve_iam",
        "loading": secret_arn("LoadingSecret") if "LoadingSecret" in made else "iam:quarry_load_iam",
    }
    [migration] = of_type(stack, "Custom::Migration").values()
    assert migration["Logins"] == variables["DATABASE_LOGINS"]


def test_no_action_and_no_resource_is_a_wildcard(stack: Template) -> None:
    found = list(statements(stack))
    assert len(found) >= len(of_type(stack, "AWS::IAM::ManagedPolicy"))
    for name, statement in found:
        for given in (statement["Action"], statement["Resource"]):
            # of the bucket, any object
            assert "*" not in re.sub(r"arn:aws:s3:::[^/]+/\*", "", json.dumps(given)), name
        assert statement["Effect"] == "Allow"
        assert "NotAction" not in statement
        assert "NotResource" not in statement


# --- schedules, alarms


def test_failed_scheduled_runs_are_retried_and_then_queued(stack: Template) -> None:
    schedules = of_type(stack, "AWS::Scheduler::Schedule")
    assert {schedule["Target"]["Arn"] for schedule in schedules.values()} == {
        "<CleanupFunctionAliaslive>",
        "<EmbedFunctionAliaslive>",
    }
    for schedule in schedules.values():
        assert "Name" not in schedule
        assert schedule["Target"]["DeadLetterConfig"] == {"Arn": "<Queues.Outputs.DeadLetters>"}
        assert schedule["Target"]["RetryPolicy"]["MaximumRetryAttempts"] > 0
    for name in ("cleanup", "embed"):
        assert lambda_of(stack, name)["DeadLetterConfig"] == {"TargetArn": "<Queues.Outputs.DeadLetters>"}
    for config in of_type(stack, "AWS::Lambda::EventInvokeConfig").values():
        assert config["Qualifier"].endswith("Aliaslive.Version>") or config["Qualifier"] == "live"


def test_files_are_loaded_one_after_another_from_a_queue_that_keeps_their_order(stack: Template) -> None:
    [mapping] = of_type(stack, "AWS::Lambda::EventSourceMapping").values()
    beside = nested("queues", stack)
    queues = of_type(beside, "AWS::SQS::Queue")
    assert mapping["EventSourceArn"] == "<Queues.Outputs.Loads>"
    assert beside["Outputs"]["Loads"]["Value"] == "<Loads.Arn>"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    [rule] = of_type(beside, "AWS::Events::Rule").values()
    [target] = rule["Targets"]
    assert (target["Arn"], target["SqsParameters"]) == ("<Loads.Arn>", {"MessageGroupId": "loads"})
    loads = queues["Loads"]
    assert loads["FifoQueue"]
    assert loads["VisibilityTimeout"] > lambda_of(stack, "load")["Timeout"]
    # a queue in order gives up into one in order
    assert loads["RedrivePolicy"]["deadLetterTargetArn"] == "<LoadDeadLetters.Arn>"
    assert queues["LoadDeadLetters"]["FifoQueue"]
    [policy] = of_type(beside, "AWS::SQS::QueuePolicy").values()
    [sent] = policy["PolicyDocument"]["Statement"]
    assert sent["Condition"] == {"ArnEquals": {"aws:SourceArn": "<ObjectCreated.Arn>"}}
    assert {"<Loads.Arn>", target["DeadLetterConfig"]["Arn"]} == {*sent["Resource"]}


def test_no_api_leads_to_the_function_that_administers(stack: Template) -> None:
    assert {function_of(operation) for method, _, operation in operations(stack) if method != "OPTIONS"} == {
        *gateway.SERVED
    }
    allowed = [each["FunctionName"] for each in of_type(stack, "AWS::Lambda::Permission").values()]
    assert not [name for name in allowed if "Admin" in name]
    assert lambda_of(stack, "admin")["LoggingConfig"]["ApplicationLogLevel"] == "INFO"
    assert "Admin" in stack["Outputs"]["AdminFunction"]["Value"]


def lambda_resource(name: str) -> str:
    return f"<{name.title().replace('_', '')}Function>"


def lambda_of(stack: Template, name: str) -> dict[str, Any]:
    """The expanded properties of the function in `functions/<name>`."""
    return of_type(stack, "AWS::Lambda::Function")[lambda_resource(name).strip("<>")]


# --- the files themselves


@pytest.mark.parametrize("name", ["template", "data", "monitoring", "queues", "rollback"])
def test_no_line_of_a_template_is_longer_than_a_screen(name: str) -> None:
    # the dashboard is one text, whose lines are its own
    lines = template_text(name).partition("DashboardBody")[0].splitlines()
    assert [line for line in lines if len(line) > gateway.LINE_MAX] == []


def test_the_template_can_be_read_at_a_sitting() -> None:
    assert len(template_text().encode()) <= TEMPLATE_BYTES
