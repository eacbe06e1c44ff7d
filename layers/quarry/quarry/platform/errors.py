"""Every error that Quarry raises on purpose.

QuarryError                     500  something we did not foresee
├── ConfigurationError          500
├── MalformedRequest            400
├── NotAuthenticated            401
├── PaymentRequired             402
├── Forbidden                   403
├── NotFound                    404
│   └── ModelNotFound                below /v1/ alone
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
│   ├── Overloaded                   more is asked of this process than it takes on
│   └── TimeIsUp                     a search's own time ran out
└── ModelError                  503  a language or embedding model did not give a usable answer
    ├── ModelUnavailable             rate limited, broken transport, left alone after failures
    │   ├── ModelTimedOut            no answer in the time that it was given
    │   └── ModelRequestRejected     its server finds this one request invalid
    ├── EmptyEmbedding               an embedding model found nothing in a text: it sent an empty vector
    ├── ModelRefused                 the model declined to answer
    └── ModelOutputInvalid           the answer does not have the promised form

A class with a title of its own says for readers of the API what it means and what to do about it: `catalogue` lists them.
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
    """Base of all errors here. `status` and `title` are what HTTP clients see; the message is the detail.

    `meaning` and `remedy` are for who reads about the API: when a client gets this, and what it does then.
    """

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"
    meaning: ClassVar[str] = "Something that nobody foresaw went wrong on the service's side."
    remedy: ClassVar[str] = (
        "Try again. If it stays so, give `request_id` to whoever runs the service: its log says the rest."
    )

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
    meaning = "A setting, a migration or an installed part of the service is wrong."
    remedy = "Tell whoever runs it: `quarry doctor` names what is wrong. Trying again does not help."

    @property
    def public_message(self) -> str:
        return UNFORESEEN_MESSAGE


class MalformedRequest(QuarryError):
    status = 400
    title = "Malformed request"
    meaning = "The body is not JSON, or not what its content type says, or a header came twice that may come once."
    remedy = "Send a whole JSON document in UTF-8, and each header once. Trying again unchanged does not help."


class NotAuthenticated(QuarryError):
    status = 401
    title = "Not signed in"
    meaning = "There is no token, or it has ended or is somebody else's."
    remedy = "Sign in, and send `Authorization: Bearer TOKEN`. A local server takes any name as the token."


class PaymentRequired(QuarryError):
    status = 402
    title = "Not enough credits"
    meaning = "The call costs a credit and none is left. Nothing was charged or stored."
    remedy = "Have credits granted: `quarry credits grant`."


class Forbidden(QuarryError):
    status = 403
    title = "Not allowed"
    meaning = (
        "It is known who asks, and this is not for them; or as much is kept as one user may keep; or a page of another site "
        "sent the request to a local server."
    )
    remedy = "`detail` says which. Delete what is not needed where a bound was reached."


class NotFound(QuarryError):
    status = 404
    title = "Not found"
    meaning = "Nothing is at this address, or what is there is not yours: the two are not told apart."
    remedy = "Check the id, and who you are signed in as."


class ModelNotFound(NotFound):
    title = "Model not found"
    meaning = "`model` names none that there is."
    remedy = "`GET /v1/models` lists those that there are."


class MethodNotAllowed(QuarryError):
    status = 405
    title = "Method not allowed"
    meaning = "The address is right and does not take this method."
    remedy = "Use one that the header `Allow` names."


class Conflict(QuarryError):
    status = 409
    title = "Conflict"
    meaning = "The idempotency key was used with another body, or its first call still runs."
    remedy = "With `Retry-After`, send the same again after it; without, use a new key."


class Gone(QuarryError):
    status = 410
    title = "Expired"
    meaning = "It was there and has expired: a search of people after a day, a run's events after ten minutes."
    remedy = "Ask again."


class BodyTooLarge(QuarryError):
    status = 413
    title = "Body too large"
    meaning = "The body is larger than 256 KiB."
    remedy = "Send less: fewer turns of a conversation, shorter texts."


class UnsupportedMediaType(QuarryError):
    status = 415
    title = "Unsupported media type"
    meaning = "The body is not said to be JSON."
    remedy = "Send `Content-Type: application/json`."


class MisdirectedRequest(QuarryError):
    status = 421
    title = "Misdirected request"
    meaning = "The server does not answer to the name in `Host`, or to the page in `Origin`."
    remedy = "Use a name that it knows, or add yours to `QUARRY_ALLOWED_HOSTS`."


class InvalidInput(QuarryError):
    status = 422
    title = "Invalid input"
    meaning = "A field's value cannot be taken."
    remedy = "`errors` has a JSON pointer to each such field, and what a valid value is."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = tuple(errors)


class RateLimited(QuarryError):
    status = 429
    title = "Too many requests"
    meaning = "You sent more requests in a minute than one user may."
    remedy = "Wait as many seconds as `Retry-After` says."


class HeadersTooLarge(QuarryError):
    status = 431
    title = "Headers too large"
    meaning = "The address and the headers are together larger than 64 KiB."
    remedy = "Send long texts in a body, by POST."


class Unavailable(QuarryError):
    status = 503
    title = "Temporarily unavailable"
    meaning = "A part that is needed is down, or the service has as much to do as it takes on."
    remedy = (
        "Try again after as many seconds as `Retry-After` says; a search of people with the same "
        "`Idempotency-Key`, so that it is charged once."
    )

    def __init__(self, message: str, *, retry_after_seconds: int = 5) -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)


class DatabaseUnavailable(Unavailable):
    def __init__(
        self, message: str = "The database does not answer; try again shortly.", *, retry_after_seconds: int = 5
    ) -> None:
        super().__init__(message, retry_after_seconds=retry_after_seconds)


class SourceUnavailable(Unavailable):
    def __init__(self, names: Sequence[str], *, retry_after_seconds: int = 15) -> None:
        self.names = tuple(names)
        called = f"{'collection' if len(names) == 1 else 'collections'} {', '.join(names)}"
        super().__init__(f"The {called} cannot be read at the moment.", retry_after_seconds=retry_after_seconds)


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


def problem_type(title: str) -> str:
    """The name of an error for programs, the `type` of RFC 9457: it follows from the title."""
    return f"urn:quarry:problem:{title.lower().replace(' ', '-')}"


def catalogue() -> list[type[QuarryError]]:
    """What a client may be answered with, by status: the errors of this module that have a title of their own."""
    here = [error for error in globals().values() if isinstance(error, type) and issubclass(error, QuarryError)]
    return sorted((error for error in here if "title" in vars(error)), key=lambda error: error.status)
