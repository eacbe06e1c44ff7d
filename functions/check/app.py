"""The Lambda function `check`, called by CodeDeploy before a new release of the function `search` gets any request: searches each
domain there as API Gateway would, and refuses the release where a search fails.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config

from quarry.probes import PROBES, Probe, fault

CHECKED_FUNCTION = "CHECKED_FUNCTION"
"""The variable that names the version of `search` that is checked, by its ARN."""

HEAD_END = b"\0" * 8
"""Between the head of a streamed response and its body."""

READ_SECONDS = 100.0
"""Longer than the function has, so that its own end is what is seen."""

logger = logging.getLogger("quarry.check")


def handler(event: Mapping[str, str], context: object) -> dict[str, str]:
    """What is wrong, by domain; empty where the release may have requests. CodeDeploy, where it asks, gets the same as a status.

    Raises botocore's errors where CodeDeploy cannot be answered: it then refuses the release, an hour later.
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
    """What is wrong with the new release, by domain. Each deployment asks as a user of its own, who has credits."""
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
    return fault(json.loads(head)["statusCode"], body.decode())


def _event(probe: Probe, user: str) -> dict[str, Any]:
    """A request as API Gateway hands it on, of a user whom it has verified."""
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
