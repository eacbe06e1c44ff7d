"""The routes of each function. FastAPI is imported here first, so that its models of OpenAPI documents are built on first
use: building them takes a sixth of a function's import, and only `/openapi.json` needs them.

FastAPI silences a warning about its parameter types when it creates them; ours are built later, so it is silenced here.
"""

import warnings
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.warnings import UnsupportedFieldAttributeWarning

warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)

_config, _rebuild = BaseModel.model_config, BaseModel.__dict__["model_rebuild"]


def _rebuild_on_use(cls: type[BaseModel], /, **how: Any) -> Any:
    # the first use of one says how
    return _rebuild.__func__(cls, **how) if how else None


BaseModel.model_config = ConfigDict(defer_build=True)
BaseModel.model_rebuild = classmethod(_rebuild_on_use)  # type: ignore[assignment]
try:
    import fastapi.openapi.models  # noqa: F401
finally:
    BaseModel.model_config = _config
    BaseModel.model_rebuild = _rebuild  # type: ignore[method-assign]
