"""Every error that Quarry raises deliberately.

QuarryError                     500  an unforeseen fault
├── ConfigurationError          500
├── MalformedRequest            400
├── NotAuthenticated            401
├── PaymentRequired             402
├── Forbidden                   403
├── NotFound                    404
│   └── ModelNotFound                only below /v1/
├── MethodNotAllowed            405
├── Conflict                    409  carries retry_after_seconds where waiting helps
├── Gone                        410
├── BodyTooLarge                413
├── UnsupportedMediaType        415
├── MisdirectedRequest          421
├── InvalidInput                422  carries one FieldError for each field
├── RateLimited                 429  carries retry_after_seconds
├── HeadersTooLarge             431
├── Unavailable                 503  carries retry_after_seconds
│   ├── DatabaseUnavailable
│   ├── SourceUnavailable            a table that is searched cannot be read; the others can
│   ├── Overloaded                   this process has too many requests
│   └── TimeIsUp                     the time of a search ran out
└── ModelError                  503  a language or embedding model did not give a usable answer
    ├── ModelUnavailable             rate limited, broken transport, left alone after failures
    │   ├── ModelTimedOut            no answer in time
    │   └── ModelRequestRejected     its server finds this request invalid
    ├── EmptyEmbedding               an embedding model sent an empty vector for a text
    ├── ModelRefused                 the model declined to answer
    └── ModelOutputInvalid           the answer does not have the required form

A class with its own title explains to readers of the API what it means and what to do: `catalogue` lists these. Messages are
public, except those of a ConfigurationError: any client may see them. The cause of an error goes only to the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from quarry.language.messages import gettext, gettext_noop, ngettext

UNFORESEEN_MESSAGE = gettext_noop("Something went wrong on our side; try again.")
"""What clients see of an error whose message is not public."""


@dataclass(frozen=True)
class FieldError:
    """One rejected field: a JSON pointer (RFC 6901) to it, and what a valid value is."""

    pointer: str
    message: str


class QuarryError(Exception):
    """Base of all errors here. `status` and `title` are what HTTP clients see; the message is the detail.

    `meaning` and `remedy` are for the API reference: when a client gets this error, and what it can do.
    """

    status: ClassVar[int] = 500
    title: ClassVar[str] = gettext_noop("Internal error")
    meaning: ClassVar[str] = "The service failed in an unforeseen way."
    remedy: ClassVar[str] = "Try again. If it fails again, give `request_id` to the operator, whose log has the cause."

    def __init__(self, message: str, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_seconds = retry_after_seconds

    @property
    def public_message(self) -> str:
        """The message for clients, in the language that is spoken."""
        return gettext(self.message)


class ConfigurationError(QuarryError):
    title = gettext_noop("Wrong configuration")
    meaning = "A setting, a migration or an installed part of the service is wrong."
    remedy = "Tell the operator: `quarry doctor` names the fault. Trying again does not help."

    @property
    def public_message(self) -> str:
        return gettext(UNFORESEEN_MESSAGE)


class MalformedRequest(QuarryError):
    status = 400
    title = gettext_noop("Malformed request")
    meaning = "The body is not valid JSON, or a header that may come once came twice."
    remedy = "Send a complete JSON document in UTF-8, and each header once."


class NotAuthenticated(QuarryError):
    status = 401
    title = gettext_noop("Not signed in")
    meaning = "The token is missing, expired or from another user pool."
    remedy = "Sign in, and send `Authorization: Bearer TOKEN`. A local server takes any name as the token."


class PaymentRequired(QuarryError):
    status = 402
    title = gettext_noop("Not enough credits")
    meaning = "The call costs a credit and none is left. Nothing was charged or stored."
    remedy = "An operator grants credits with `quarry credits grant`, or raises the quota of a tenant."


class Forbidden(QuarryError):
    status = 403
    title = gettext_noop("Not allowed")
    meaning = (
        "The user may not do this, has reached the limit of what one user may keep, or a page of another site "
        "called a local server."
    )
    remedy = "`detail` gives the reason. If a limit was reached, delete something first."


class NotFound(QuarryError):
    status = 404
    title = gettext_noop("Not found")
    meaning = "Nothing exists at this address, or it belongs to another user; the answer is the same."
    remedy = "Check the id and the account."


class ModelNotFound(NotFound):
    title = gettext_noop("Model not found")
    meaning = "No model has this name."
    remedy = "`GET /v1/models` lists the models."


class MethodNotAllowed(QuarryError):
    status = 405
    title = gettext_noop("Method not allowed")
    meaning = "The address exists but does not accept this method."
    remedy = "Use a method from the header `Allow`."


class Conflict(QuarryError):
    status = 409
    title = gettext_noop("Conflict")
    meaning = "The idempotency key was used with another body, or its first call is still running."
    remedy = "With `Retry-After`, repeat the call after that time. Without it, use a new key."


class Gone(QuarryError):
    status = 410
    title = gettext_noop("Expired")
    meaning = "The resource has expired: a people search after a day, a run's events after ten minutes."
    remedy = "Ask again."


class BodyTooLarge(QuarryError):
    status = 413
    title = gettext_noop("Body too large")
    meaning = "The body is larger than 256 KiB."
    remedy = "Send fewer turns of the conversation or shorter texts."


class UnsupportedMediaType(QuarryError):
    status = 415
    title = gettext_noop("Unsupported media type")
    meaning = "The content type is not JSON."
    remedy = "Send `Content-Type: application/json`."


class MisdirectedRequest(QuarryError):
    status = 421
    title = gettext_noop("Misdirected request")
    meaning = "The server does not serve the name in `Host` or the page in `Origin`."
    remedy = "Use a known name, or add yours to `QUARRY_ALLOWED_HOSTS`."


class InvalidInput(QuarryError):
    status = 422
    title = gettext_noop("Invalid input")
    meaning = "A field has an invalid value."
    remedy = "`errors` has a JSON pointer to each such field and says what is valid."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = tuple(errors)


class RateLimited(QuarryError):
    status = 429
    title = gettext_noop("Too many requests")
    meaning = "The user, or all users of the tenant together, sent too many requests in a minute."
    remedy = "Wait the seconds in `Retry-After`."


class HeadersTooLarge(QuarryError):
    status = 431
    title = gettext_noop("Headers too large")
    meaning = "Address and headers together exceed 64 KiB."
    remedy = "Send long texts by POST."


class Unavailable(QuarryError):
    status = 503
    title = gettext_noop("Temporarily unavailable")
    meaning = "A required part is down, or the service is busy."
    remedy = (
        "Try again after the seconds in `Retry-After`. Repeat a people search with the same "
        "`Idempotency-Key`, so that it is charged once."
    )

    default_message: ClassVar[str] = gettext_noop("The service is unavailable; try again shortly.")

    def __init__(self, message: str | None = None, *, retry_after_seconds: int = 5) -> None:
        super().__init__(message or self.default_message, retry_after_seconds=retry_after_seconds)


class DatabaseUnavailable(Unavailable):
    default_message = gettext_noop("The database does not answer; try again shortly.")


class SourceUnavailable(Unavailable):
    def __init__(self, names: Sequence[str], *, retry_after_seconds: int = 15) -> None:
        self.names = tuple(names)
        message = ngettext(
            "The collection {names} cannot be read at the moment.",
            "The collections {names} cannot be read at the moment.",
            len(names),
            names=", ".join(names),
        )
        super().__init__(message, retry_after_seconds=retry_after_seconds)


class Overloaded(Unavailable):
    pass


class TimeIsUp(Unavailable):
    default_message = gettext_noop("The search ran out of time; try again, or ask for less.")


class ModelError(Unavailable):
    pass


class ModelUnavailable(ModelError):
    pass


class ModelTimedOut(ModelUnavailable):
    pass


class ModelRequestRejected(ModelUnavailable):
    pass


class EmptyEmbedding(ModelError):
    default_message = gettext_noop("The embedding model's server sent an empty vector for a text.")


class ModelRefused(ModelError):
    pass


class ModelOutputInvalid(ModelError):
    pass


def problem_type(title: str) -> str:
    """The name of an error for programs, the `type` of RFC 9457, derived from the title."""
    return f"urn:quarry:problem:{title.lower().replace(' ', '-')}"


def catalogue() -> list[type[QuarryError]]:
    """The errors that clients can receive, by status: those of this module with their own title."""
    here = [error for error in globals().values() if isinstance(error, type) and issubclass(error, QuarryError)]
    return sorted((error for error in here if "title" in vars(error)), key=lambda error: error.status)
