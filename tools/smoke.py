"""Checks a deployed stack from outside and, given its name, through AWS's APIs: `make smoke URL=… TOKEN=… STACK=…`.

    python -m tools.smoke URL TOKEN [STACK]

Searches as the token's user, which costs a credit and the tokens of six searches, and changes nothing. Each check is a line of
the report; the last line counts them, and the exit status is 1 if one failed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from quarry.probes import PROBES, fault

TIMEOUT_SECONDS = 100.0
ORIGIN = "https://elsewhere.example"
PAUSES = 5
"""How often to retry while a database wakes."""


class Failed(Exception):
    """A check found a problem: what it is, and where to look."""


class Skipped(Exception):
    """There is nothing to check: why."""


@dataclass(frozen=True)
class Stack:
    """The stack to check. `aws` creates a client for a service; None if only HTTP is checked."""

    http: httpx2.Client
    token: str
    name: str
    aws: Callable[[str], Any] | None

    def of_user(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def client(self, service: str) -> Any:
        if self.aws is None:
            raise Skipped("give STACK=… and AWS credentials")
        return self.aws(service)


def streams_come_event_by_event(stack: Stack) -> str:
    probe, began = PROBES["records"], time.perf_counter()
    moments: list[float] = []
    pieces: list[bytes] = []
    with stack.http.stream("POST", probe.path, json=probe.body, headers=stack.of_user()) as response:
        for piece in response.iter_raw():
            moments.append(time.perf_counter() - began)
            pieces.append(piece)
    _require_answer(response.status_code, b"".join(pieces).decode())
    if len(pieces) < 2 or moments[-1] - moments[0] < 0.001:
        raise Failed("all of the stream came at once; the integration must say STREAM and 2021-11-15")
    return f"first event after {moments[0] * 1000:.0f} ms, last after {moments[-1] * 1000:.0f} ms"


def a_stream_function_answers_plain_json(stack: Stack) -> str:
    response = stack.http.get("/records/search", params={"q": "park"}, headers=stack.of_user())
    if response.status_code != 200 or not response.headers["content-type"].startswith("application/json"):
        raise Failed(f"/records/search answered {response.status_code}; a 502 is a prelude that was not understood")
    return f"{len(response.content)} bytes"


def every_domain_is_searched(stack: Stack) -> str:
    faults = {}
    for domain, probe in PROBES.items():
        response = stack.http.post(probe.path, json=probe.body, headers=stack.of_user())
        if wrong := fault(response.status_code, response.text):
            faults[domain] = wrong
    if faults:
        raise Failed("; ".join(f"{domain}: {wrong}" for domain, wrong in faults.items()))
    return ", ".join(PROBES)


def time_to_first_content_is_measured(stack: Stack) -> str:
    now = datetime.now(UTC)
    points = stack.client("cloudwatch").get_metric_statistics(
        Namespace=stack.name, MetricName="FirstContent", Statistics=["SampleCount"], Period=3600,
        StartTime=now - timedelta(hours=3), EndTime=now + timedelta(minutes=5),
    )["Datapoints"]  # fmt: skip
    if not points:
        raise Failed("FirstContent has no values in three hours; is `firstContentMs` in the access log a number?")
    return f"{sum(point['SampleCount'] for point in points):.0f} streams in three hours"


def what_is_refused_is_a_problem(stack: Stack) -> str:
    requests = [
        (401, "/records/search?q=park", {}),
        (404, "/no-such-path", {}),
        (404, "/no-such-path", stack.of_user()),
    ]
    for status, path, headers in requests:
        response = stack.http.get(path, headers=headers)
        label = f"{path} {'with' if headers else 'without'} a token"
        if response.status_code != status:
            raise Failed(f"{label} answered {response.status_code} in place of {status}")
        if response.headers.get("content-type") != "application/problem+json" or response.json()["status"] != status:
            raise Failed(f"{label} is no problem document")
        if not response.headers.get("x-request-id"):
            raise Failed(f"{label} has no X-Request-Id")
    return "401 and 404 as problem documents"


def a_browser_may_call_from_elsewhere(stack: Stack) -> str:
    headers_sent = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
    }
    preflight = stack.http.options("/records/search", headers=headers_sent)
    answer = stack.http.get("/records/search?q=park", headers=stack.of_user() | {"Origin": ORIGIN})
    allowed = {each.headers.get("access-control-allow-origin", "") for each in (preflight, answer)}
    if preflight.status_code != 200 or "" in allowed or len(allowed) != 1:
        raise Failed(f"OPTIONS answered {preflight.status_code}; Access-Control-Allow-Origin: {sorted(allowed)}")
    return f"allowed: {allowed.pop()}"


def a_client_that_disconnects_harms_nobody(stack: Stack) -> str:
    probe = PROBES["records"]
    with stack.http.stream("POST", probe.path, json=probe.body, headers=stack.of_user()) as response:
        next(response.iter_raw(), None)
    a_stream_function_answers_plain_json(stack)
    return "the next search was answered; `quarry runs` says abandoned"


def functions_have_the_release(stack: Stack) -> str:
    version = stack.client("lambda").get_alias(FunctionName=f"{stack.name}-search", Name="live")["FunctionVersion"]
    if not version.isdecimal():
        raise Failed(f"the alias `live` names {version}")
    return f"version {version}"


def scheduled_work_is_done_and_its_failures_are_seen(stack: Stack) -> str:
    for name in ("cleanup", "embed"):
        response = stack.client("lambda").invoke(FunctionName=f"{stack.name}-{name}", Payload=b"{}")
        if "FunctionError" in response:
            raise Failed(f"{name} failed; its log group is /aws/lambda/{stack.name}-{name}")
    resource = stack.client("cloudformation").describe_stack_resource(
        StackName=stack.name, LogicalResourceId="DeadLetters"
    )
    queue = resource["StackResourceDetail"]["PhysicalResourceId"]
    attributes = stack.client("sqs").get_queue_attributes(
        QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"]
    )
    if (waiting := attributes["Attributes"]["ApproximateNumberOfMessages"]) != "0":
        raise Failed(f"{waiting} events were given up: docs/operations.md, DeadLettersAlarm")
    return "cleanup and embed ran; no dead letters"


def users_sign_in(stack: Stack) -> str:
    sign_in = stack.http.get("/config.json").json()["sign_in"]
    if sign_in is None:
        raise Failed("/config.json knows no sign-in; are UserPoolDomain and the app client given?")
    query = {"client_id": sign_in["client_id"], "response_type": "code", "scope": " ".join(sign_in["scopes"])}
    home = f"{str(stack.http.base_url).rstrip('/')}/"
    page = httpx2.get(f"{sign_in['domain']}/login", params=query | {"redirect_uri": home}, follow_redirects=True)
    if page.status_code != 200:
        raise Failed(f"managed login answered {page.status_code}; is {home} a callback address of the app client?")
    return sign_in["domain"]  # type: ignore[no-any-return]


def the_database_answers_or_wakes(stack: Stack) -> str:
    resting = stack.http.get("/health")
    if resting.status_code != 200:
        raise Failed(f"/health answered {resting.status_code}: {resting.text}")
    for _ in range(PAUSES):
        woken = stack.http.get("/health/deep", headers=stack.of_user())
        if woken.status_code == 200:
            return f"database {resting.json()['database']}, asked deeply: {woken.json()['database']}"
        time.sleep(int(woken.headers.get("retry-after", "1")))
    raise Failed(f"the database did not wake; /health/deep answered {woken.status_code}")


def searches_go_to_the_reader(stack: Stack) -> str:
    reader = stack.http.get("/health/deep", headers=stack.of_user()).json().get("reader")
    if reader is None:
        raise Skipped("there is no reader")
    if reader != "ok":
        raise Failed(f"the reader is {reader}; searches go to the writer")
    return "ok"


def api_gateway_may_write_logs(stack: Stack) -> str:
    role = stack.client("apigateway").get_account().get("cloudwatchRoleArn")
    if not role:
        raise Failed(
            "the account has no role by which API Gateway writes logs: deploy data.yaml with ApiGatewayLogRole=create"
        )
    return str(role)


CHECKS: tuple[Callable[[Stack], str], ...] = (
    streams_come_event_by_event,
    a_stream_function_answers_plain_json,
    every_domain_is_searched,
    time_to_first_content_is_measured,
    what_is_refused_is_a_problem,
    a_browser_may_call_from_elsewhere,
    a_client_that_disconnects_harms_nobody,
    functions_have_the_release,
    scheduled_work_is_done_and_its_failures_are_seen,
    users_sign_in,
    the_database_answers_or_wakes,
    searches_go_to_the_reader,
    api_gateway_may_write_logs,
)


def _require_answer(status: int, text: str) -> None:
    if wrong := fault(status, text):
        raise Failed(wrong)


@dataclass(frozen=True)
class Outcome:
    check: str
    state: str
    """`ok`, `failed` or `skipped`."""
    detail: str

    def __str__(self) -> str:
        return f"{self.state:8}{self.check}: {self.detail}"


def outcomes(stack: Stack) -> Iterator[Outcome]:
    """The outcome of each check, in order. A check that cannot run, because nothing answers or AWS refuses, has failed."""
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            yield Outcome(name, "ok", check(stack))
        except Skipped as reason:
            yield Outcome(name, "skipped", str(reason))
        except Failed as reason:
            yield Outcome(name, "failed", str(reason))
        except Exception as error:  # a stack may fail in any way, and the remaining checks still run
            yield Outcome(name, "failed", f"{type(error).__name__}: {error}")


def main(url: str, token: str, stack: str = "") -> int:
    if not (url.startswith("http") and token):
        print(
            "Say what to check: make smoke URL=https://… TOKEN=…; docs/deploy.md says where both come from.",
            file=sys.stderr,
        )
        return 2
    counts: dict[str, int] = {}
    with httpx2.Client(base_url=url, timeout=TIMEOUT_SECONDS) as http:
        for outcome in outcomes(Stack(http, token, stack, _clients if stack else None)):
            counts[outcome.state] = counts.get(outcome.state, 0) + 1
            print(outcome, flush=True)
    print(json.dumps(counts))
    return int("failed" in counts)


def _clients(service: str) -> Any:
    import boto3
    from botocore.config import Config

    # `embed` has ten minutes
    return boto3.client(service, config=Config(read_timeout=620, retries={"total_max_attempts": 1}))  # type: ignore[call-overload]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
