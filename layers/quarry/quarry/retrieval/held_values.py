"""Which rows hold one of several values, as SQL that indexes serve: the values are named as the data spells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from psycopg.sql import SQL, Composable, Composed

from quarry.retrieval.facets import VALUE_MAX_CHARACTERS, Facet


class Parameters(Protocol):
    """How values stand in a statement."""

    def parameter(self, value: object) -> Composable:
        """What stands for a value."""
        ...

    def once(self, expression: Composable) -> Composable:
        """An expression over parameters alone, which is not evaluated for each row."""
        ...


def holds_one_of(facet: Facet, value: SQL, values: Sequence[str], parameters: Parameters) -> Composed:
    """Whether `value`, that of a text facet or of a search vector, is or holds one of the values."""
    names = list(dict.fromkeys(values))
    if facet.kind == "words":
        asked = [parameters.once(SQL("parsed_query({})").format(parameters.parameter(name))) for name in names]
        return SQL("({})").format(SQL(" or ").join(SQL("{} @@ {}").format(value, query) for query in asked))
    given = SQL("{}::text[]").format(parameters.parameter(names))
    if facet.kind == "place":
        folded = parameters.once(SQL("folded_names({})").format(given))
        return SQL("folded_names(place_parts({})) && {}").format(value, folded)
    if facet.kind in ("title", "text"):
        return SQL("has_any_phrase({}, {})").format(value, given)
    same = SQL("{} && {}" if facet.is_array else "{} = any({})").format(value, given)
    unkept = [name for name in names if not _is_kept(name)]
    return SQL("({} or {})").format(same, _folds_to(facet, value, unkept, parameters)) if unkept else same


def _is_kept(value: str) -> bool:
    """Whether other spellings of a value are found among those that are looked up, and so were named with it."""
    return len(value) <= VALUE_MAX_CHARACTERS and any(character.isalnum() for character in value)


def _folds_to(facet: Facet, value: SQL, values: Sequence[str], parameters: Parameters) -> Composed:
    """Whether the row has another spelling of one of the values, which every row is looked at for."""
    given = SQL("array(select folded_value(g) from unnest({}::text[]) g)").format(parameters.parameter(list(values)))
    template = "exists (select from unnest({}) v (value) where folded_value(v.value) = any({}))"
    folded = SQL("{}::text[]").format(parameters.once(given))
    return SQL(template if facet.is_array else "folded_value({}) = any({})").format(value, folded)
