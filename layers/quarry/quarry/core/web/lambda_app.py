"""Lambda: the application behind API Gateway's proxy integration, each response in one piece.

An execution environment is one process with one event loop. It builds its services at its first invocation: nothing is
opened and no setting read at import, so a snapshot of the environment holds neither connection nor secret.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar

from fastapi import APIRouter
from mangum import Mangum
from mangum.types import LambdaContext as _MangumContext

from quarry.core.services import Services, build_services
from quarry.core.settings import Settings
from quarry.core.web.app import create_app

Result = TypeVar("Result")

# All that we answer is text; what is not named here would reach the client as base64.
TEXT_MEDIA_TYPES = ["text/", "application/json", "application/problem+json", "application/x-ndjson"]


class LambdaContext(_MangumContext, Protocol):
    """What Lambda tells about an invocation."""

    def get_remaining_time_in_millis(self) -> int: ...


HttpHandler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


class ExecutionEnvironment:
    """One process of a Lambda function."""

    @cached_property
    def services(self) -> Services:
        """Raises ConfigurationError for wrong settings; the invocation then fails, and so does the next."""
        settings = Settings.from_environment()
        logging.getLogger().setLevel(settings.log_level)
        return build_services(settings)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do `work` on the event loop of this process."""
        return self._loop.run_until_complete(work)

    def serve(self, routers: Sequence[APIRouter], documented: Sequence[APIRouter]) -> HttpHandler:
        """A handler of API Gateway's REST proxy events that serves `routers`."""

        @cache
        def adapter() -> Mangum:
            asyncio.set_event_loop(self._loop)  # where Mangum runs its requests
            app = create_app(self.services, routers, documented)
            return Mangum(app, lifespan="off", text_mime_types=TEXT_MEDIA_TYPES)

        def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
            response = adapter()(event, context)
            self.run(self.services.run_log.drain())  # Lambda stops the process's clock once it has the response
            return response

        return handler

    def close(self) -> None:
        """Close what was opened, as for the end of the process."""
        if "services" in self.__dict__:
            self.run(self.services.close())
        if "_loop" in self.__dict__:
            self._loop.close()
            asyncio.set_event_loop(None)

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop()
