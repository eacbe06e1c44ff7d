"""A route of the API as a method: written once, for the client that waits and for the one that is awaited."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from quarry.client.errors import InvalidInput, UnexpectedAnswer
from quarry.core.stream.encoding import Form

if TYPE_CHECKING:
    from quarry.client.streams import AsyncStream, Stream

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Sent:
    """What one call of a route sends: values in its path, its query, its body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: BaseModel | Mapping[str, str] | None = None
    body: BaseModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A request that can be made as often as it takes. `is_repeatable`: also where it may have been carried out already."""

    method: str
    path: str
    query: Mapping[str, Any]
    body: bytes | None
    headers: Mapping[str, str]
    is_repeatable: bool = True

    @classmethod
    def of(cls, address: str, sent: Sent, *, accept: str, is_repeatable: bool = True) -> Call:
        """The call of a route, whose `address` is its method and its path."""
        method, _, template = address.partition(" ")
        # an owner's id may hold a slash
        path = template.format_map({name: quote(value, safe="/") for name, value in sent.path.items()})
        query, body = sent.query, None
        if isinstance(query, BaseModel):
            query = query.model_dump(mode="json", by_alias=True, exclude_unset=True)
        headers = {**sent.headers, "Accept": accept}
        if sent.body is not None:
            body = sent.body.model_dump_json(by_alias=True, exclude_unset=True).encode()
            headers["Content-Type"] = "application/json"
        return cls(method, path, query or {}, body, headers, is_repeatable)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """How the answers to a call are read. `also` is a status beside those of success whose body is an answer."""

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
            raise UnexpectedAnswer(f"The server's answer is no {self.type.__name__}; is it of this version?") from error


@dataclass(frozen=True)
class EventTypes(Generic[E]):
    """The events of a stream by their `type`, how they are written, and the type of the last one."""

    form: Form
    models: tuple[type[E], ...]
    last: str

    @functools.cached_property
    def by_type(self) -> Mapping[str, type[E]]:
        return {model.model_fields["type"].default: model for model in self.models}


class Caller(ABC):
    """A client whose calls return when they are done."""

    @abstractmethod
    def perform(self, call: Call, reply: Reply[T]) -> T: ...

    @abstractmethod
    def stream(self, call: Call, events: EventTypes[E]) -> Stream[E]: ...


class AsyncCaller(ABC):
    """A client whose calls are awaited."""

    @abstractmethod
    async def perform(self, call: Call, reply: Reply[T]) -> T: ...

    @abstractmethod
    def stream(self, call: Call, events: EventTypes[E]) -> AsyncStream[E]: ...


class Route(Generic[P, T]):
    """A route that answers in one piece, as a method of both clients."""

    def __init__(
        self, address: str, reply: Reply[T], make: Callable[Concatenate[Any, P], Sent], *, repeatable: bool
    ) -> None:
        self.address = address
        self._reply, self._make, self._repeatable = reply, make, repeatable
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: Caller, owner: object = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncCaller, owner: object = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: object = None) -> Route[P, T]: ...
    def __get__(self, client: Caller | AsyncCaller | None, owner: object = None) -> Any:
        if client is None:
            return self
        performer = client

        def call(*arguments: P.args, **named: P.kwargs) -> Any:
            sent = _checked(self._make, performer, *arguments, **named)
            call = Call.of(self.address, sent, accept="application/json", is_repeatable=self._repeatable)
            return performer.perform(call, self._reply)

        return _described(call, self._make)


class StreamedRoute(Generic[P, E]):
    """A route that answers in a stream of events, as a method of both clients."""

    def __init__(self, address: str, events: EventTypes[E], make: Callable[Concatenate[Any, P], Sent]) -> None:
        self.address, self.events = address, events
        self._make = make
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, client: Caller, owner: object = None) -> Callable[P, Stream[E]]: ...
    @overload
    def __get__(self, client: AsyncCaller, owner: object = None) -> Callable[P, AsyncStream[E]]: ...
    @overload
    def __get__(self, client: None, owner: object = None) -> StreamedRoute[P, E]: ...
    def __get__(self, client: Caller | AsyncCaller | None, owner: object = None) -> Any:
        if client is None:
            return self
        performer = client

        def call(*arguments: P.args, **named: P.kwargs) -> Any:
            sent = _checked(self._make, performer, *arguments, **named)
            accept = self.events.form.media_type.partition(";")[0]
            return performer.stream(Call.of(self.address, sent, accept=accept), self.events)

        return _described(call, self._make)


def route(
    address: str, answer: type[T], *, repeatable: bool = True, also: int | None = None
) -> Callable[[Callable[Concatenate[Any, P], Sent]], Route[P, T]]:
    """Make a method of a route, of the function that says what it sends. Not `repeatable` is what must not happen twice."""
    return lambda make: Route(address, Reply(answer, also), make, repeatable=repeatable)


def streamed(
    address: str, events: EventTypes[E]
) -> Callable[[Callable[Concatenate[Any, P], Sent]], StreamedRoute[P, E]]:
    """The same of a route that streams."""
    return lambda make: StreamedRoute(address, events, make)


def given(model: type[M], /, **values: object) -> M:
    """A request of the fields that are given: None is none. Raises pydantic's ValidationError."""
    known = {name: value for name, value in values.items() if value is not None}
    return model.model_validate(known, by_name=True, by_alias=True)


def _checked(make: Callable[Concatenate[Any, P], Sent], client: object, *arguments: P.args, **named: P.kwargs) -> Sent:
    try:
        return make(client, *arguments, **named)
    except ValidationError as error:
        raise InvalidInput.of(error) from None


def _described(call: Callable[P, Any], make: Callable[Concatenate[Any, P], Sent]) -> Callable[P, Any]:
    """`call` with the name, the words and the parameters of `make`."""
    _, *parameters = (signature := inspect.signature(make)).parameters.values()
    call.__name__, call.__doc__ = make.__name__, make.__doc__
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    return call
