"""Every error that Quarry raises on purpose.

QuarryError                     500  something we did not foresee
├── ConfigurationError          500  a setting, a migration or an installed part is wrong; the operator acts
├── MalformedRequest            400  the body is not JSON, or not what its content type says
├── NotAuthenticated            401
├── PaymentRequired             402  not enough credits
├── Forbidden                   403  known who asks, and it is not for them
├── NotFound                    404  unknown, or not the caller's
├── MethodNotAllowed            405
├── Conflict                    409  another request stands in the way; carries retry_after_seconds where waiting helps
├── Gone                        410  was there, and has expired
├── BodyTooLarge                413
├── UnsupportedMediaType        415  the body is not JSON
├── MisdirectedRequest          421  asks for a host that this server does not answer to
├── InvalidInput                422  a field's value; carries one FieldError for each
├── RateLimited                 429  carries retry_after_seconds
├── HeadersTooLarge             431
├── Unavailable                 503  a needed part is down; carries retry_after_seconds
│   ├── DatabaseUnavailable
│   ├── Overloaded                   more is asked of this process than it takes on
│   └── TimeIsUp                     a search's own time ran out
└── ModelError                  503  a language or embedding model did not give a usable answer
    ├── ModelUnavailable             rate limited, broken transport, left alone after failures
    │   ├── ModelTimedOut            no answer in the time that it was given
    │   └── ModelRequestRejected     its server finds this one request invalid
    ├── EmptyEmbedding               an embedding model found nothing in a text: it sent an empty vector
    ├── ModelRefused                 the model declined to answer
    └── ModelOutputInvalid           the answer does not have the promised form

A message is public, but for a ConfigurationError's: it may be sent to any client. What led to the error travels as its cause and
goes to the log only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

UNFORESEEN_MESSAGE = "Something went wrong on our side; try again."
"""All that a client is told of an error whose message is not meant for it."""


@dataclass(frozen=True)
class FieldError:
    """One rejected field: a JSON pointer (RFC 6901) to it, and what a valid value is."""

    pointer: str
    message: str


class QuarryError(Exception):
    """Base of all errors here. `status` and `title` are what HTTP clients see; the message is the detail."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, message: str, *, retry_after_seconds: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_seconds = retry_after_seconds

    @property
    def public_message(self) -> str:
        """What a client may be told."""
        return self.message


class ConfigurationError(QuarryError):
    title = "Wrong configuration"

    @property
    def public_message(self) -> str:
        return UNFORESEEN_MESSAGE


class MalformedRequest(QuarryError):
    status = 400
    title = "Malformed request"


class NotAuthenticated(QuarryError):
    status = 401
    title = "Not signed in"


class PaymentRequired(QuarryError):
    status = 402
    title = "Not enough credits"


class Forbidden(QuarryError):
    status = 403
    title = "Not allowed"


class NotFound(QuarryError):
    status = 404
    title = "Not found"


class MethodNotAllowed(QuarryError):
    status = 405
    title = "Method not allowed"


class Conflict(QuarryError):
    status = 409
    title = "Conflict"


class Gone(QuarryError):
    status = 410
    title = "Expired"


class BodyTooLarge(QuarryError):
    status = 413
    title = "Body too large"


class UnsupportedMediaType(QuarryError):
    status = 415
    title = "Unsupported media type"


class MisdirectedRequest(QuarryError):
    status = 421
    title = "Misdirected request"


class InvalidInput(QuarryError):
    status = 422
    title = "Invalid input"

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = tuple(errors)


class RateLimited(QuarryError):
    status = 429
    title = "Too many requests"


class HeadersTooLarge(QuarryError):
    status = 431
    title = "Headers too large"


class Unavailable(QuarryError):
    status = 503
    title = "Temporarily unavailable"

    def __init__(self, message: str, *, retry_after_seconds: int = 5) -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)


class DatabaseUnavailable(Unavailable):
    def __init__(self, message: str = "The database does not answer; try again shortly.") -> None:
        super().__init__(message)


class Overloaded(Unavailable):
    pass


class TimeIsUp(Unavailable):
    def __init__(self, message: str = "The search ran out of time; try again, or ask for less.") -> None:
        super().__init__(message)


class ModelError(Unavailable):
    pass


class ModelUnavailable(ModelError):
    pass


class ModelTimedOut(ModelUnavailable):
    pass


class ModelRequestRejected(ModelUnavailable):
    pass


class EmptyEmbedding(ModelError):
    def __init__(self) -> None:
        super().__init__("The embedding model's server sent an empty vector for a text.")


class ModelRefused(ModelError):
    pass


class ModelOutputInvalid(ModelError):
    pass
