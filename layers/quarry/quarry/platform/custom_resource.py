"""CloudFormation's custom resources: work that a deployment waits for, done once per release.

The physical id names the release and the logins of the last run, so that a rollback does not repeat the work.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request, urlopen

from quarry.platform.errors import QuarryError

RELEASE = "QUARRY_RELEASE"
"""The property that names the release: CloudFormation sends a request only if a property changes."""

LOGINS = "Logins"
"""The property that names the database logins: a change needs work even if the release is the same."""

ANSWER_SECONDS = 30.0
REASON_MAX = 1000

logger = logging.getLogger("quarry.deployment")


def is_request(event: object) -> bool:
    """Whether CloudFormation sent the event, rather than a person."""
    return isinstance(event, dict) and "ResponseURL" in event


def respond(event: Mapping[str, Any], work: Callable[[], object]) -> None:
    """Do the work if the resource is created or updated, and report the result to CloudFormation in any case.

    Raises OSError if the report cannot be sent.
    """
    id, failure = event.get("PhysicalResourceId", "none"), ""
    if event["RequestType"] != "Delete" and id != (wanted := _id(event["ResourceProperties"])):
        try:
            work()
            id = wanted
        except Exception as error:  # without a report CloudFormation would wait
            logger.exception("the deployment's work failed")
            failure = error.message if isinstance(error, QuarryError) else type(error).__name__
    answer = {
        "Status": "FAILED" if failure else "SUCCESS",
        "Reason": failure[:REASON_MAX],
        "PhysicalResourceId": id,
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    # the address is CloudFormation's, signed for a body without a type
    request = Request(  # noqa: S310
        event["ResponseURL"], json.dumps(answer).encode(), headers={"Content-Type": ""}, method="PUT"
    )
    with urlopen(request, timeout=ANSWER_SECONDS):  # noqa: S310
        pass


def _id(properties: Mapping[str, str]) -> str:
    logins = properties.get(LOGINS)
    # by hash: those of secrets are long
    return properties[RELEASE] + (f"-{hashlib.sha256(logins.encode()).hexdigest()[:8]}" if logins else "")
