"""Requests and responses: what a call sends, and how its answer is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from quarry.client.errors import UnexpectedAnswer
from quarry.streaming.events import Form

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True)
class CallInput:
    """What one call of a route sends: values in its path, its query, its body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: BaseModel | Mapping[str, str] | None = None
    body: BaseModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A request, which can be retried. `is_repeatable`: even if the server may have carried it out."""

    method: str
    path: str
    query: Mapping[str, Any]
    body: bytes | None
    headers: Mapping[str, str]
    is_repeatable: bool = True

    @classmethod
    def of(cls, address: str, input_: CallInput, *, accept: str, is_repeatable: bool = True) -> Call:
        """The call of a route; its `address` is its method and path."""
        method, _, template = address.partition(" ")
        # an owner's id may contain a slash
        path = template.format_map({name: quote(value, safe="/") for name, value in input_.path.items()})
        query, body = input_.query, None
        if isinstance(query, BaseModel):
            query = query.model_dump(mode="json", by_alias=True, exclude_unset=True)
        headers = {**input_.headers, "Accept": accept}
        if input_.body is not None:
            body = input_.body.model_dump_json(by_alias=True, exclude_unset=True).encode()
            headers["Content-Type"] = "application/json"
        return cls(method, path, query or {}, body, headers, is_repeatable)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """How to read the answers to a call. `also` is another status, besides success, whose body is an answer."""

    type: type[T]
    also: int | None = None

    def read(self, body: bytes) -> T:
        """Raises UnexpectedAnswer."""
        if self.type is NoneType:
            return None  # type: ignore[return-value]
        assert issubclass(self.type, BaseModel)
        try:
            return self.type.model_validate_json(body)
        except ValidationError as error:
            raise UnexpectedAnswer(
                f"The server's answer is not a {self.type.__name__}; it may have another version."
            ) from error


@dataclass(frozen=True)
class EventTypes(Generic[E]):
    """The event types of a stream, their format, and the type of the last one."""

    form: Form
    models: tuple[type[E], ...]
    last: str

    @functools.cached_property
    def by_type(self) -> Mapping[str, type[E]]:
        return {model.model_fields["type"].default: model for model in self.models}
