"""Conditions on the values of facets, as SQL. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from psycopg.sql import SQL, Composable, Composed

from quarry.platform.text import piece_pattern
from quarry.retrieval.facets import VALUE_MAX_CHARACTERS, Facet


class Parameters(Protocol):
    """How a statement takes values."""

    def parameter(self, value: object) -> Composable:
        """The placeholder of a value."""
        ...

    def once(self, expression: Composable) -> Composable:
        """An expression on parameters alone, evaluated once."""
        ...


def holds_one_of(
    facet: Facet, value: SQL, values: Sequence[str], parameters: Parameters, *, spelt: bool = False
) -> Composed:
    """The SQL condition that `value`, of a text facet or a search vector, is or contains one of the values. `spelt`: places are
    given as the data spells them, so that no row is folded.
    """
    names = list(dict.fromkeys(values))
    if facet.kind == "words":
        asked = [parameters.once(SQL("parsed_query({})").format(parameters.parameter(name))) for name in names]
        return SQL("({})").format(SQL(" or ").join(SQL("{} @@ {}").format(value, query) for query in asked))
    given = SQL("{}::text[]").format(parameters.parameter(names))
    if facet.kind == "place" and spelt:
        return _is_place_among(value, names, given, parameters)
    if facet.kind == "place":
        folded = parameters.once(SQL("folded_names({})").format(given))
        return SQL("folded_names(place_parts({})) && {}").format(value, folded)
    if facet.kind in ("title", "text"):
        return SQL("has_any_phrase({}, {})").format(value, given)
    same = SQL("{} && {}" if facet.is_array else "{} = any({})").format(value, given)
    unkept = [name for name in names if not _is_kept(name)]
    return SQL("({} or {})").format(same, _folds_to(facet, value, unkept, parameters)) if unkept else same


def _is_place_among(value: SQL, names: Sequence[str], given: Composable, parameters: Parameters) -> Composed:
    """The SQL condition that a text is one of these places, or names one between commas and the like. Only a text that contains
    a name is taken apart, which takes ten times as long as to look.
    """
    patterns = parameters.parameter([piece_pattern(name) for name in names])
    return SQL(
        "({value} = any({given}) or ({value} like any({patterns}::text[]) and place_parts({value}) && {given}))"
    ).format(value=SQL("({}::text)").format(value), given=given, patterns=patterns)


def _is_kept(value: str) -> bool:
    """Whether the dictionary has the other spellings of a value, so that they were named with it."""
    return len(value) <= VALUE_MAX_CHARACTERS and any(character.isalnum() for character in value)


def _folds_to(facet: Facet, value: SQL, values: Sequence[str], parameters: Parameters) -> Composed:
    """The SQL condition that a row has another spelling of one of the values. No index serves it."""
    given = SQL("array(select folded_value(g) from unnest({}::text[]) g)").format(parameters.parameter(list(values)))
    template = "exists (select from unnest({}) v (value) where folded_value(v.value) = any({}))"
    folded = SQL("{}::text[]").format(parameters.once(given))
    return SQL(template if facet.is_array else "folded_value({}) = any({})").format(value, folded)
