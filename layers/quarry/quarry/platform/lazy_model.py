"""The base of our pydantic models."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema

# reentrant: building one may build others
_building = threading.RLock()


class _Thread(threading.local):
    builds = False
    """Whether it is building a model, with those that it is made of."""


_thread = _Thread()


class LazyModel(BaseModel):
    """A model whose validators are built on first use: a process uses few of the models it imports, and building all of them
    takes longer than importing them.
    """

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def model_rebuild(
        cls,
        *,
        force: bool = False,
        raise_errors: bool = True,
        _parent_namespace_depth: int = 2,
        _types_namespace: Mapping[str, Any] | None = None,
    ) -> bool | None:
        """As pydantic's, which must not run in two threads at once. Names are resolved in the model's module."""
        with _building:
            builds, _thread.builds = _thread.builds, True
            try:
                return super().model_rebuild(
                    force=force, raise_errors=raise_errors, _parent_namespace_depth=0, _types_namespace=_types_namespace
                )
            finally:
                _thread.builds = builds

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The model's own schema for a type that contains it. A `TypeAdapter` would else make another: a request would be built
        once to be read, and again to be written.
        """
        if not _thread.builds:
            cls.model_rebuild()
        return handler(source)
