"""The conditions that a value is named by one of some texts, in forms that an index serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString, Protocol

from psycopg.sql import SQL, Composable, Composed

from quarry.platform.text import piece_pattern
from quarry.schema.source import VALUE_MAX_CHARACTERS, Field


class Parameters(Protocol):
    """How a statement takes values."""

    def parameter(self, value: object) -> Composable:
        """The placeholder of a value."""
        ...

    def once(self, expression: Composable) -> Composable:
        """An expression on parameters alone, evaluated once."""
        ...


def holds_one_of(facet: Field, value: SQL, values: Sequence[str], parameters: Parameters) -> Composed:
    """The SQL condition that `value`, of a text facet or a search vector, is or contains one of the values."""
    names = list(dict.fromkeys(values))
    if facet.facet == "words":
        queries = [parameters.once(SQL("parsed_query({})").format(parameters.parameter(name))) for name in names]
        return SQL("({})").format(SQL(" or ").join(SQL("{} @@ {}").format(value, query) for query in queries))
    array = SQL("{}::text[]").format(parameters.parameter(names))
    if facet.facet == "place" and facet.is_spelt:
        return is_place_among(value, names, parameters)
    if facet.facet == "place":
        folded = parameters.once(SQL("folded_names({})").format(array))
        return SQL("folded_names(place_parts({})) && {}").format(value, folded)
    if facet.facet in ("title", "text"):
        prefixes = SQL("{} ~ any ({}::text[])").format(
            SQL(_BARE).format(value), parameters.once(SQL(_BEGINNINGS).format(array))
        )
        return SQL("({} and has_any_phrase({}, {}))").format(prefixes, value, array)
    same = SQL("{} && {}" if facet.has_several else "{} = any({})").format(value, array)
    unkept = [name for name in names if not is_kept(name)]
    return SQL("({} or {})").format(same, _folds_to(facet, value, unkept, parameters)) if unkept else same


_BARE: LiteralString = "translate(folded_text({}), '.''', '')"
"""A text as its words are compared, before it is split into them."""
_BEGINNINGS: LiteralString = """array(
  select case when s.stem = 'and' then ''
    else replace(left(s.stem, case when length(s.stem) < 4 then 1 else -1 end), '+', '[+]') end
  from unnest({}) p (phrase), lateral (
    select w.stem from unnest(word_stems(folded_words(p.phrase))) w (stem) order by length(w.stem) desc limit 1) s)"""
"""What a text must contain to hold one of some phrases: the longest stem of each without its last letter, which endings change
("happy" is "happi"), or the first letter of a short one ("dying" is "die"). "and" may be written "&". Only texts that contain it
are stemmed, word by word.
"""


def is_kept(value: str) -> bool:
    """Whether the dictionary has the other spellings of a value, so that they were named with it."""
    return len(value) <= VALUE_MAX_CHARACTERS and any(character.isalnum() for character in value)


def _folds_to(facet: Field, value: SQL, values: Sequence[str], parameters: Parameters) -> Composed:
    """The SQL condition that a row has another spelling of one of the values. No index serves it."""
    array = SQL("array(select folded_value(g) from unnest({}::text[]) g)").format(parameters.parameter(list(values)))
    template = "exists (select from unnest({}) v (value) where folded_value(v.value) = any({}))"
    folded = SQL("{}::text[]").format(parameters.once(array))
    return SQL(template if facet.has_several else "folded_value({}) = any({})").format(value, folded)


def is_place_among(value: Composable, names: Sequence[str], parameters: Parameters) -> Composed:
    """The SQL condition that a text is one of these places, or names one between commas and the like. Only a text that contains
    a name is taken apart, which takes ten times as long as to look; not one that ends with a name after a comma.
    """
    array = SQL("{}::text[]").format(parameters.parameter(list(names)))
    patterns = [piece_pattern(name) for name in names]
    last = [f"%, {pattern[1:-1]}" for name, pattern in zip(names, patterns, strict=True) if _is_one_part(name)]
    return SQL(
        "({value} = any({given}) or ({value} like any({patterns}::text[])"
        " and ({value} like any({last}::text[]) or place_parts({value}) && {given})))"
    ).format(
        value=SQL("({}::text)").format(value),
        given=array,
        patterns=parameters.parameter(patterns),
        last=parameters.parameter(last),
    )


def _is_one_part(name: str) -> bool:
    """Whether a name holds nothing that could part a text."""
    return name == name.strip() and name.replace(" ", "").isalpha()
