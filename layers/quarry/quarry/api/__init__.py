"""The routes of each function, over all domains, in a module of its name; `everything` has them all.

A function imports no more than it serves. And FastAPI comes in through here first, with its own models, which describe OpenAPI
documents, left to be built when they are first used: building them takes a sixth of a function's import, and only
`/openapi.json` needs them.
"""

from pydantic import BaseModel, ConfigDict

_config = BaseModel.model_config
BaseModel.model_config = ConfigDict(defer_build=True)
try:
    import fastapi.openapi.models  # noqa: F401
finally:
    BaseModel.model_config = _config
