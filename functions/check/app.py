"""The Lambda function `check`. CodeDeploy calls it before a new release of the function `search` gets any traffic: it runs a
search in each domain as API Gateway would, and rejects the release if a search fails.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config

from quarry.platform.errors import Forbidden
from quarry.probes import PROBES, Probe, fault

CHECKED_FUNCTION = "CHECKED_FUNCTION"
"""The variable that holds the ARN of the version of `search` to check."""

TENANT_CLAIM = "TENANT_CLAIM"
"""The setting of the stack: with it, each search is answered only for a tenant's users."""

HEAD_END = b"\0" * 8
"""The separator between the head and the body of a streamed response."""

READ_SECONDS = 100.0
"""Longer than the function's own timeout, so that its timeout is the one reported."""

logger = logging.getLogger("quarry.check")


def handler(event: Mapping[str, str], context: object) -> dict[str, str]:
    """Returns the faults by domain; empty if the release may get traffic. CodeDeploy gets the result as a status.

    Raises botocore's errors if CodeDeploy cannot be answered: it then rejects the release after an hour.
    """
    faults = check(event.get("DeploymentId", "by-hand"))
    for domain, wrong in faults.items():
        logger.error("%s: %s", domain, wrong)
    if "LifecycleEventHookExecutionId" in event:
        boto3.client("codedeploy").put_lifecycle_event_hook_execution_status(
            deploymentId=event["DeploymentId"],
            lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
            status="Failed" if faults else "Succeeded",
        )
    return faults


def check(deployment: str) -> dict[str, str]:
    """The faults of the new release, by domain. Each deployment searches as its own user, who has credits."""
    return {domain: wrong for domain, probe in PROBES.items() if (wrong := _fault(probe, f"check-{deployment}"))}


def _fault(probe: Probe, user: str) -> str | None:
    client = boto3.client("lambda", config=Config(read_timeout=READ_SECONDS, retries={"total_max_attempts": 1}))
    response = client.invoke_with_response_stream(
        FunctionName=os.environ[CHECKED_FUNCTION], Payload=json.dumps(_event(probe, user))
    )
    wire = b""
    for part in response["EventStream"]:
        wire += part.get("PayloadChunk", {}).get("Payload", b"")
        if error := part.get("InvokeComplete", {}).get("ErrorCode"):
            return f"the function failed: {error}"
    head, end, body = wire.partition(HEAD_END)
    if not end:
        return "the response has no head"
    status = json.loads(head)["statusCode"]
    if status == Forbidden.status and os.environ.get(TENANT_CLAIM):
        return None  # a deployment is of no tenant: its refusal shows that the release starts and reads who the tenants are
    return fault(status, body.decode())


def _event(probe: Probe, user: str) -> dict[str, Any]:
    """A request of a verified user, as API Gateway passes it on."""
    headers = {"Content-Type": "application/json"}
    return {
        "resource": probe.path,
        "path": probe.path,
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"path": probe.path, "authorizer": {"claims": {"sub": user}}},
        "body": json.dumps(probe.body),
        "isBase64Encoded": False,
    }
