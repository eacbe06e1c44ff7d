"""The rows and wire types of recipes."""

from __future__ import annotations

import datetime
from typing import Annotated

from pydantic import Field

from quarry.answering.contract import AskRequest as AskRequest
from quarry.answering.contract import FinalAnswerEvent as FinalAnswerEvent
from quarry.answering.contract import SearchRequest as AnyWords
from quarry.platform.tables import Line, Names, Row, Text
from quarry.platform.text import Identifier


class RecipeRow(Row):
    """A recipe, and how many minutes it takes."""

    id: Identifier
    title: Line
    cuisine: Line | None = None
    ingredients: Names = []
    method: Text
    minutes: int | None = None
    added_on: datetime.date | None = None


ROWS = {"recipes": RecipeRow}


class SearchRequest(AnyWords):
    """`POST /recipes/search`. With `minutes_max`, only what takes no longer."""

    minutes_max: Annotated[int, Field(ge=1)] | None = None
