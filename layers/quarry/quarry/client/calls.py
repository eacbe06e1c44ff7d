"""Routes of the API as methods, written once for the blocking and the asynchronous client."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from pydantic import BaseModel, ValidationError

from quarry.client.errors import InvalidInput
from quarry.client.exchange import Call, CallInput, EventTypes, Reply
from quarry.client.streams import AsyncStream, Stream

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)
M = TypeVar("M", bound=BaseModel)


class BlockingCalls(ABC):
    """What makes a method's call, in a client that waits for the answer."""

    @abstractmethod
    def perform(self, call: Call, reply: Reply[T]) -> T:
        """Make a call; every method ends here."""

    @abstractmethod
    def stream(self, call: Call, events: EventTypes[E]) -> Stream[E]:
        """Make a streamed call."""


class AsyncCalls(ABC):
    """The same in a client whose methods are awaited."""

    @abstractmethod
    async def perform(self, call: Call, reply: Reply[T]) -> T:
        """Make a call; every method ends here."""

    @abstractmethod
    def stream(self, call: Call, events: EventTypes[E]) -> AsyncStream[E]:
        """Make a streamed call."""


class _Method(Generic[P]):
    """A function that returns what a call sends, turned into a method that makes the call."""

    def __init__(self, address: str, make: Callable[Concatenate[Any, P], CallInput]) -> None:
        self.address = address
        self.__doc__ = make.__doc__
        self._make = make
        self._signature = _without_self(make)

    def _method_of(self, client: object, act: Callable[[CallInput], Any]) -> Callable[P, Any]:
        """The method bound to a client; `act` makes the call."""

        def method(*arguments: P.args, **keywords: P.kwargs) -> Any:
            try:
                input_ = self._make(client, *arguments, **keywords)
            except ValidationError as error:
                raise InvalidInput.of(error) from None
            return act(input_)

        method.__name__, method.__doc__ = self._make.__name__, self.__doc__
        method.__signature__ = self._signature  # type: ignore[attr-defined]
        return method


class Route(_Method[P], Generic[P, T]):
    """A route with one answer, as a method of both clients."""

    def __init__(
        self, address: str, reply: Reply[T], make: Callable[Concatenate[Any, P], CallInput], *, repeatable: bool
    ) -> None:
        super().__init__(address, make)
        self._reply, self._repeatable = reply, repeatable

    @overload
    def __get__(self, client: BlockingCalls, owner: object = None) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncCalls, owner: object = None) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(self, client: None, owner: object = None) -> Route[P, T]: ...
    def __get__(self, client: BlockingCalls | AsyncCalls | None, owner: object = None) -> Any:
        if client is None:
            return self
        return self._method_of(client, lambda input_: client.perform(self._call(input_), self._reply))

    def _call(self, input_: CallInput) -> Call:
        return Call.of(self.address, input_, accept="application/json", is_repeatable=self._repeatable)


class StreamedRoute(_Method[P], Generic[P, E]):
    """A route with a stream of events, as a method of both clients."""

    def __init__(self, address: str, events: EventTypes[E], make: Callable[Concatenate[Any, P], CallInput]) -> None:
        super().__init__(address, make)
        self.events = events

    @overload
    def __get__(self, client: BlockingCalls, owner: object = None) -> Callable[P, Stream[E]]: ...
    @overload
    def __get__(self, client: AsyncCalls, owner: object = None) -> Callable[P, AsyncStream[E]]: ...
    @overload
    def __get__(self, client: None, owner: object = None) -> StreamedRoute[P, E]: ...
    def __get__(self, client: BlockingCalls | AsyncCalls | None, owner: object = None) -> Any:
        if client is None:
            return self
        return self._method_of(client, lambda input_: client.stream(self._call(input_), self.events))

    def _call(self, input_: CallInput) -> Call:
        return Call.of(self.address, input_, accept=self.events.form.media_type.partition(";")[0])


def route(
    address: str, answer: type[T], *, repeatable: bool = True, also: int | None = None
) -> Callable[[Callable[Concatenate[Any, P], CallInput]], Route[P, T]]:
    """Turn a function that returns what a call sends into a method. A call that must not happen twice is not `repeatable`."""
    return lambda make: Route(address, Reply(answer, also), make, repeatable=repeatable)


def streamed(
    address: str, events: EventTypes[E]
) -> Callable[[Callable[Concatenate[Any, P], CallInput]], StreamedRoute[P, E]]:
    """The same for a route that streams."""
    return lambda make: StreamedRoute(address, events, make)


def request_of(model: type[M], /, **values: object) -> M:
    """A request with the fields that are not None. Raises pydantic's ValidationError."""
    return model.model_validate(with_values(values), by_name=True, by_alias=True)


def with_values(fields: Mapping[str, T | None]) -> dict[str, T]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _without_self(make: Callable[..., CallInput]) -> inspect.Signature:
    """The signature of a method, without `self` and the return type, which depends on the client."""
    signature = inspect.signature(make)
    _, *parameters = signature.parameters.values()
    return signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
