"""Drafts the declaration of one table from what its columns are likely to hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quarry.collections.declaration import PARAMETERS
from quarry.collections.guessing import (
    EPOCH_LEAST,
    LABEL_WIDTH,
    codes_of,
    date_purpose,
    in_hundredths,
    is_amount,
    is_contact,
    is_date,
    is_epoch,
    is_flag,
    is_number,
    is_place,
    is_role,
    is_text,
    is_truth,
    is_writable,
    is_year,
    unit_of,
)
from quarry.collections.names import (
    as_toml,
    is_called,
    language_of,
    shown_name,
    slug,
    toml_key,
    unique,
    words,
    written_out,
    written_table,
)
from quarry.collections.relations import Column, covered, own_name
from quarry.collections.secrets import BYTES, Suspicion
from quarry.collections.uses import is_comparable, is_single
from quarry.language.word_forms import singular
from quarry.platform.contract import NAME_PATTERN
from quarry.schema.source import DATE
from quarry.spans.numbers import currency_code
from quarry_map.extras import (
    Guesses,
    Reached,
    add_duration,
    add_fields,
    add_links,
    add_overdue,
    add_sum,
    last_word,
    measures_told,
    name_of_amount,
    names_of_references,
    quoted,
    reached,
    telling_columns,
)
from quarry_map.table_guess import NOT_READ, DateKinds, TableDraft, TableGuess, name_by_reference

FACETS_MAX = 20
REACHED_MAX = 14
"""How many facets a table may get from the tables that it refers to."""
DESCRIPTION_MAX = 500

_PURPOSES = {
    "happened": "when it happened",
    "created": "when it was written",
    "later": "when it is due",
    "other": "no other date fits better",
}


def draft_table(
    guess: TableGuess, guesses: Guesses, name: str, *, is_searched: bool = True, kinds: DateKinds = NOT_READ
) -> TableDraft:
    """The declaration of a table as the collection `name`.

    `guesses` are the tables that it may refer to, `kinds` the meanings of its date names. If it `is_searched`, it has a key;
    otherwise its rows are only counted.
    """
    relation, draft = guess.relation, TableDraft()
    draft.set("source", written_table(*relation.qualified))
    if guess.key != relation.primary_key:
        draft.set("key", [*guess.key], "the primary key cannot be used; these are unique")
    if is_searched:
        _add_texts(draft, guess, name)
    elif guess.title or not guess.is_join:
        draft.set("title", _title(guess, name))
    marked = {column.name: "html" for column in guess.usable if column.is_html}
    draft.set("markup", marked, "shown and searched as plain text: values hold tags")
    if guess.texts_used:
        language = language_of([column.name for column in relation.columns])
        draft.set("language", language, "guessed by the names of its columns")
    if guess.date:
        draft.set("date", guess.date.name, f"guessed: {_PURPOSES[date_purpose(guess.date)]}")
    if guess.page:
        draft.set("url", f"{{{guess.page.name}}}")
    if is_searched and not relation.may_trigger:
        draft.set("sync", "sweep", "the role of DATABASE_URL may not create triggers on it")
    draft.set("describe", " ".join((relation.comment or "").split())[:DESCRIPTION_MAX])
    draft.set(
        "hidden", {name: _why_hidden(relation.by_name[name], why, is_searched) for name, why in guess.secrets.items()}
    )
    _add_facets(draft, guess, guesses, name, is_searched=is_searched)
    add_overdue(draft, guess, kinds)
    add_links(draft, guess, guesses)
    add_fields(draft, guess)
    draft.remarks += measures_told(draft, guess)
    draft.remarks += [told_epoch(each) for each in guess.usable if is_epoch(each)]
    draft.remarks += [
        f'to show callers only their own rows: scope = {as_toml(each.name)}, scope_setting = "app.caller"'
        for each in guess.named_owners
    ]
    return draft


def told_epoch(column: Column) -> str:
    """That a column holds moments as numbers, and what makes them dates."""
    unit, divided = ("milliseconds", " / 1000.0") if (column.least or 0) >= EPOCH_LEAST * 1000 else ("seconds", "")
    moment = f"to_timestamp({quoted(column)}{divided})"
    return f"{shown_name(column.name)} holds {unit} since 1970: to ask about dates, search a view with {moment}"


def _why_hidden(column: Column, suspected: Suspicion, is_searched: bool) -> str:
    """The comment on a column in `hidden`: why, and how to show one that may be no secret."""
    if suspected.is_certain:
        return suspected.reason if suspected.reason == BYTES else f"a secret: {suspected.reason}"
    shown = f"may be a secret: {suspected.reason}; delete this line to show it"
    return (
        f'{shown}, add `{toml_key(column.name)} = "D"` to `text` to search it'
        if is_text(column) and is_searched
        else shown
    )


def _add_texts(draft: TableDraft, guess: TableGuess, name: str) -> None:
    if not guess.texts_used:
        draft.set("title", _title_of_key(guess, name))
        draft.set("text", dict.fromkeys(guess.key, "D"), "it has no text: rows are counted, and found by their keys")
        draft.settings["embed"] = []
        return
    weights = {
        **{column.name: "A" for column in guess.title},
        **{column.name: "C" if place else "B" for place, column in enumerate(guess.prose)},
        **{column.name: "D" for column in guess.other_texts},
    }
    draft.set("title", _title(guess, name) if guess.title or not guess.prose else None)
    draft.set("text", weights)
    columns = guess.prose if guess.person else [*guess.title, *guess.prose]
    embedded = [column.name for column in columns if not is_contact(column)]
    if not guess.prose and all(column.width and column.width <= LABEL_WIDTH for column in columns):
        embedded = []  # a vector of each takes far longer than all else: words and spellings find short names
    if embedded != [*weights]:
        draft.settings["embed"] = embedded
    if not embedded:
        draft.reasons["embed"] = "by words only: names and numbers have no meaning to search by"
    if guess.prose and len(guess.prose) < len(weights):
        draft.set("cite", [column.name for column in guess.prose])


def _title(guess: TableGuess, name: str) -> str | None:
    """The title of rows: the names of people, and the key where there is no title."""
    if guess.person:
        return " ".join(f"{{{column.name}}}" for column in guess.person)
    return guess.title[0].name if guess.title else _title_of_key(guess, name)


def _title_of_key(guess: TableGuess, name: str) -> str | None:
    """A title made from the key: "payment 17"."""
    if not guess.key:
        return None
    telling = [key for key in guess.key if not is_date(guess.relation.by_name[key])] or guess.key
    return " ".join([singular(name.replace("_", " ")), *(f"{{{key}}}" for key in telling)])


def _add_facets(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str, *, is_searched: bool) -> None:
    """Add the facets of a table.

    Rows that are only counted get no facets with names of other tables' rows: a question about those follows a link, and no
    values have to be stored for each table.
    """
    titles = [] if is_searched and not guess.title_repeats else guess.title
    texts = [each for each in guess.texts_used if each not in titles] if is_searched else []
    used = {column.name for column in (*texts, guess.date, guess.page) if column} | {*guess.key}
    used -= {column.name for column in (*guess.key_categories, *([] if is_searched else titles))}
    for column in guess.relation.columns:
        is_named = column.name in guess.references and is_searched
        if (
            covered(column.name, guess.secrets)
            or (column.name in used and not is_named)
            or len(draft.facets) == FACETS_MAX
        ):
            continue
        facet = _facet(column, guess, guesses) if is_named or column.name not in guess.references else None
        if facet is None:
            continue
        called = unique(_facet_name(facet.name, name), draft.facets)
        is_plain = facet.declared == {"kind": facet.declared["kind"], "column": called}
        draft.facets[called] = facet.declared["kind"] if is_plain else facet.declared
        if facet.reason:
            draft.reasons[f"facets.{called}"] = facet.reason
    for facet in _joined_facets(guess, guesses) if is_searched else ():
        if len(draft.facets) < FACETS_MAX:
            draft.facets[unique(_facet_name(facet.name, name), draft.facets)] = facet.declared
    add_sum(draft, guess, guesses)
    add_duration(draft, guess)
    if is_searched:
        _add_reached(draft, guess, guesses, name)


def _add_reached(draft: TableDraft, guess: TableGuess, guesses: Guesses, name: str) -> None:
    """Add facets from the tables that rows refer to: the date of the nearest, where the table has none, their names, kinds
    and places.
    """
    found = reached(guess, guesses)
    is_of_others = (
        not guess.texts_used
        or is_called(guess.relation.name, "sale")
        or any(name in guess.references for name in guess.key)
    )
    is_part = guess.date is None and is_of_others
    dated = next((each for each in found if is_part and each.guess.date), None)
    if dated and dated.guess.date and DATE not in draft.facets:
        draft.facets[DATE] = dated.declared("date", dated.guess.date.name)
        draft.reasons[f"facets.{DATE}"] = "guessed: the rows have none of their own"
    telling = [
        (each, column, kind)
        for each in found
        for column, kind in telling_columns(each.guess)
        # where staff live says nothing about the row
        if kind != "place" or not is_called(each.guess.relation.name, "serving")
    ]
    further = [
        *(
            (each, *_called_by_reference(each))
            for each in found
            if len(each.steps) > 1 and each.guess.title and not any(map(is_contact, each.guess.title))
        ),
        *((each, column.name, kind, column.name) for each, column, kind in telling),
    ]
    kept = {*names_of_references(guess, guesses).values()}
    for each, called, kind, title in further[:REACHED_MAX]:
        ends = {last_word(facet) for facet in (*draft.facets, *kept)}
        own = (
            called
            if last_word(called) not in ends
            else f"{singular('_'.join(words(each.guess.relation.name)))}_{called}"
        )
        draft.facets[unique(_facet_name(own, name), {*draft.facets, *kept})] = each.declared(kind, title)


def _called_by_reference(each: Reached) -> tuple[str, str, str]:
    """Name, kind and title of a facet for the name of a row further away."""
    column, _ = each.steps[-1]
    return name_by_reference(column, each.guess), _kind_of_names(each.guess), _title_of(each.guess)


def _joined_facets(guess: TableGuess, guesses: Guesses) -> Iterator[_Facet]:
    """Facets for the rows that a third table joins this one with: the categories of a film."""
    for joins in guesses.values():
        references = joins.joined
        if references is None or not guess.may_tell_of(joins):
            continue
        own = [
            each for each in references if each.target == guess.relation.qualified and each.target_columns == guess.key
        ]
        others = [each for each in references if each not in own]
        other = guesses.get(others[0].target) if len(own) == 1 else None
        if other is None or not other.title or not guess.may_tell_of(other):
            continue
        declared = {
            "kind": "array", "through": written_table(*joins.relation.qualified),
            "of": written_table(*other.relation.qualified), "title": _title_of(other),
        }  # fmt: skip
        # columns without a foreign key have to be named
        named = {key: each.columns[0] for key, each in (("by", own[0]), ("to", others[0])) if each.is_guessed}
        yield _Facet(singular("_".join(words(other.relation.name))), declared | named)


def _title_of(other: TableGuess) -> str:
    """The title of another table's rows: all names of a person."""
    if other.person and len(other.title) > 1:
        return " ".join(f"{{{column.name}}}" for column in other.title)
    return other.title[-1].name


@dataclass(frozen=True)
class _Facet:
    name: str
    declared: Mapping[str, object]
    reason: str | None = None


def _facet(column: Column, guess: TableGuess, guesses: Guesses) -> _Facet | None:
    if not is_writable(column.name) or column in guess.scopes:
        return None
    if column.name in guess.references:
        return _reference_facet(column, guess, guesses)
    is_part = column.name in guess.referring and column not in guess.key_categories
    kind = None if is_part or is_epoch(column) else _kind(column, guess)
    if kind is None:
        return None
    called = written_out(own_name(column.name))
    if (codes := codes_of(column)) and not is_truth(column):
        named = {"kind": "value", "column": column.name, "synonyms": codes}
        return _Facet(called, named, "the names of its values, as the column's comment says")
    unit = unit_of(column) if kind == "number" else None
    if unit:
        is_named = called == column.name and re.fullmatch(NAME_PATTERN, called) and called not in PARAMETERS
        named = {"kind": kind} if is_named else {"kind": kind, "column": column.name}
        return _Facet(called, {**named, "unit": unit})
    declared: dict[str, object] = {"kind": kind}
    reason = None
    if kind == "money" and (code := next(filter(None, map(currency_code, words(column.name))), None)):
        declared["currency"] = code
    elif kind == "money" and guess.currency:
        declared["currency"] = {"column": guess.currency.name}
    elif kind == "money":
        reason = 'which currency? { kind = "money", currency = "…" }'
    if in_hundredths(column):
        return _Facet(name_of_amount(column), {**declared, "expression": f"{quoted(column)} / 100"}, reason)
    return _Facet(called, {**declared, "column": column.name}, reason)


def _kind(column: Column, guess: TableGuess) -> str | None:
    if column.is_array:
        return "array" if column.category in ("S", "E", "N") else None
    if column.category == "B":
        return "boolean"
    if is_date(column):
        return "date" if date_purpose(column) != "bookkeeping" else None
    if is_truth(column) and column not in guess.title:
        return "boolean"
    if column in (*guess.categories, *guess.title, *guess.key_categories):
        if column in guess.title and guess.are_people:
            return "name"
        is_somebodys = guess.are_people and is_role(column)
        return "title" if is_somebodys else "place" if is_place(column, guess.relation) else "value"
    if is_year(column):
        return "year"
    if is_flag(column):
        return "boolean"
    return ("money" if is_amount(column) else "number") if is_number(column) else None


def _reference_facet(column: Column, guess: TableGuess, guesses: Guesses) -> _Facet | None:
    reference = guess.references[column.name]
    other = guesses.get(reference.target)
    if other is None or not guess.may_tell_of(other):
        return None
    key = other.relation.by_name.get(reference.target_columns[0])
    if not other.title or key is None or not is_writable(key.name):
        return None
    if not (is_single(column) and is_single(key) and is_comparable(column, key)):
        return None
    return _Facet(
        name_by_reference(column.name, other),
        {
            "kind": _kind_of_names(other),
            "by": column.name,
            "of": written_table(*other.relation.qualified),
            "title": _title_of(other),
        },
        "guessed by its name: no foreign key" if reference.is_guessed else "",
    )


def _kind_of_names(other: TableGuess) -> str:
    return "name" if other.are_people else "place" if other.is_place_list else "value"


def _facet_name(name: str, collection: str) -> str:
    called = slug(name, "facet")
    return slug(f"{singular(collection)}_{called}", "facet") if called in PARAMETERS else called
