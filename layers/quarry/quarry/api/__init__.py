"""The routes of each function, over all domains, in a module of its name; `everything` has them all.

A function imports no more than it serves. And FastAPI comes in through here first, with its own models, which describe OpenAPI
documents, left to be built when they are first used, also where it calls for it: building them takes a sixth of a function's
import, and only `/openapi.json` needs them.

FastAPI silences a warning about its own types of parameters where it makes these; ours are built later, out of its sight.
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
