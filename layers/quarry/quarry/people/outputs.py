"""What a model must return when it reads a query for people, and when it says why people were found.

The types forgive what can be mended: a list given as null or as one text, a value outside the taxonomy, a detail left out or
unknown. The schema that the model is shown does not: there every key is required.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from quarry.people.contract import Exclude, Must, Should, texts_in
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import CleanText, storable


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if each is not None]
    return [] if value is None else [value]


def _mended(part: type[BaseModel]) -> BeforeValidator:
    """A part of the constraints as a model may give it."""
    lists = {name for name, field in part.model_fields.items() if field.get_default() == []}

    def mend(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        for text in texts_in(value):
            storable(text)
        known = {name: given for name, given in value.items() if name in part.model_fields and given is not None}
        return {name: _listed(given) if name in lists else given for name, given in known.items()}

    return BeforeValidator(mend)


Texts = Annotated[list[CleanText], BeforeValidator(_listed)]


class Quote(LazyModel):
    """The words of the query that say the value of a key."""

    key: CleanText = Field(description='Such as "must.city".')
    words: CleanText


class PeopleQuery(LazyModel):
    """A query for people as constraints."""

    must: Annotated[Must, _mended(Must)]
    should: Annotated[Should, _mended(Should)]
    exclude: Annotated[Exclude, _mended(Exclude)]
    query_embedding_text: Annotated[CleanText, BeforeValidator(lambda value: "" if value is None else value)] = ""
    confidence_score: float | None = Field(default=0.0, ge=0, le=1)
    quotes: Annotated[list[Quote], BeforeValidator(_listed)] = Field(
        default=[], description="For each key with a value."
    )


class PersonReasons(LazyModel):
    """Why one person was found."""

    person_id: CleanText
    why_matched: Texts = []


class PeopleReasons(LazyModel):
    """Why the people were found, each by the id that was given."""

    people: list[PersonReasons]
