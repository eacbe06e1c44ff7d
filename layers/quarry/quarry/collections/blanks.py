"""The texts that rows of anybody's tables may lack: "customers without an email", "orders with no comments"."""

from __future__ import annotations

from collections.abc import Iterator

from quarry.collections.collection import Collection
from quarry.collections.declaration import line_columns
from quarry.collections.guessing import words
from quarry.collections.json_paths import own_name
from quarry.language.nouns import plural, singular
from quarry.retrieval.facets import Facet

_ALSO_CALLED = {"email": "email address", "phone": "phone number"}


def text_facets(collection: Collection) -> Iterator[Facet]:
    """The columns that are searched as texts, but for the title and those that are facets."""
    declared = collection.declaration
    other = {*line_columns(declared.title), *(each.column or name for name, each in declared.facets.items())}
    for column in declared.text:
        own = words(own_name(column))
        name = f"{'_'.join(own)}_text"
        if column in other or name in declared.facets:
            continue
        called = singular(" ".join(own))
        also = (_ALSO_CALLED[called],) if called in _ALSO_CALLED else ()
        yield Facet(name, "text", collection.text(column, "t"), called, plural(called), words=also)
