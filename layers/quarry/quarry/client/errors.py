"""Errors of the client.

QuarryError            any answer that is an error; `status` is its HTTP status
├── NotAuthenticated   401  no token, or an invalid one
├── NotEnoughCredits   402
├── Forbidden          403
├── NotFound           404  unknown, or not yours
├── Conflict           409  an idempotency key that was used for another request
├── Gone               410  it has expired
├── InvalidInput       422  the request is invalid, as found here or by the server; `errors` names the fields
├── RateLimited        429  `retry_after_seconds` says when to try again
├── Unavailable        503  a required part is down; `retry_after_seconds` as above
├── SearchFailed            a search failed after its stream had begun
├── UnexpectedAnswer        an answer that this version does not know
└── ConnectionFailed        the server was not reached, or the connection was lost too often
"""

from __future__ import annotations

import email.utils
import http.client
import json
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from pydantic import ValidationError

from quarry.platform.contract import plain_words, pointer_to
from quarry.platform.errors import FieldError

NO_TYPE = "about:blank"


class QuarryError(Exception):
    """An error from the server (RFC 9457): `detail` is for people, `type` for programs. With `request_id` the operator of the
    server finds it in the log.
    """

    expected_status: ClassVar[int | None] = None

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        type: str = NO_TYPE,
        title: str = "",
        request_id: str | None = None,
        errors: Sequence[FieldError] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status or self.expected_status
        self.type = type
        self.title = title
        self.request_id = request_id
        self.errors = tuple(errors)
        self.retry_after_seconds = retry_after_seconds


class NotAuthenticated(QuarryError):
    expected_status = 401


class NotEnoughCredits(QuarryError):
    expected_status = 402


class Forbidden(QuarryError):
    expected_status = 403


class NotFound(QuarryError):
    expected_status = 404


class Conflict(QuarryError):
    expected_status = 409


class Gone(QuarryError):
    expected_status = 410


class InvalidInput(QuarryError):
    expected_status = 422

    @classmethod
    def of(cls, error: ValidationError) -> Self:
        """The error for a request that is invalid and was not sent."""
        fields = [
            FieldError(
                pointer_to(detail["loc"]),
                f"{detail['loc'][-1] if detail['loc'] else 'the request'}: {plain_words(detail)}",
            )
            for detail in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        return cls("; ".join(field.message for field in fields), title="Invalid input", errors=fields)


class RateLimited(QuarryError):
    expected_status = 429


class Unavailable(QuarryError):
    expected_status = 503


class SearchFailed(QuarryError):
    pass


class UnexpectedAnswer(QuarryError):
    pass


class ConnectionFailed(QuarryError):
    """`was_sent`: the server may have carried out the request."""

    def __init__(self, detail: str, *, was_sent: bool) -> None:
        super().__init__(detail)
        self.was_sent = was_sent


_BY_STATUS = {kind.expected_status: kind for kind in QuarryError.__subclasses__() if kind.expected_status}


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> QuarryError:
    """The error in an answer. If a proxy sent it, only its status is known."""
    try:
        problem = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    phrase = http.client.responses.get(status, "unknown")
    return _BY_STATUS.get(status, QuarryError)(
        str(problem.get("detail") or f"The server answered {status} ({phrase})."),
        status=status,
        type=str(problem.get("type") or NO_TYPE),
        title=str(problem.get("title") or phrase),
        request_id=problem.get("request_id") or headers.get("x-request-id"),
        errors=_fields(problem.get("errors")),
        retry_after_seconds=_seconds(headers.get("retry-after")),
    )


def _fields(errors: object) -> list[FieldError]:
    rows = errors if isinstance(errors, list) else []
    return [FieldError(str(row.get("pointer")), str(row.get("message"))) for row in rows if isinstance(row, dict)]


def _seconds(retry_after: str | None) -> float | None:
    """The wait that `Retry-After` asks for, which is a number of seconds or a time."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = email.utils.parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - time.time())
