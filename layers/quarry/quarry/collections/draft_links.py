"""The links and plain fields of a drafted table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from quarry.collections import toml_text
from quarry.collections.column_types import PLAIN, is_comparable, is_single
from quarry.collections.draft_parts import TableDraft, name_by_reference, slug, unique
from quarry.collections.expression import expression_columns
from quarry.collections.guessing import is_writable, words
from quarry.collections.json_paths import keys_of
from quarry.collections.reached import Guesses
from quarry.collections.relations import Column, Reference
from quarry.collections.secrets import is_secret_table
from quarry.collections.table_guess import TableGuess
from quarry.collections.templates import line_columns
from quarry.language.word_forms import singular


def add_links(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """What rows refer to by columns that no facet refers by."""
    facets = (each for each in draft.facets.values() if isinstance(each, Mapping))
    known: set[tuple[str, ...]] = {
        (each["by"],) for each in facets if isinstance(each.get("title"), str) and "through" not in each
    }
    for reference in dict.fromkeys(guess.relation.references):
        other = guesses.get(reference.target)
        if other is None or reference.columns in known or not _may_link(guess, reference, other):
            continue
        known.add(reference.columns)
        own = singular("_".join(words(other.relation.name)))
        called = name_by_reference(reference.columns[0], other) if len(reference.columns) == 1 else own
        taken = {*draft.named, *guess.relation.by_name}
        name = next((each for each in (called, own) if each not in taken), f"{own}_row")
        by: object = reference.columns[0] if len(reference.columns) == 1 else [*reference.columns]
        declared = {"by": by, "of": toml_text.table(*reference.target)}
        if reference.is_guessed and reference.target_columns != other.relation.primary_key:
            declared["key"] = [*reference.target_columns]
        draft.links[unique(slug(name, "link"), taken)] = declared if reference.is_guessed else by


def _may_link(guess: TableGuess, reference: Reference, other: TableGuess) -> bool:
    """Whether rows can be followed by a reference, which leads to nothing secret."""
    own, their = guess.relation.by_name, other.relation.by_name
    pairs = [(own[one], their.get(two)) for one, two in zip(reference.columns, reference.target_columns, strict=True)]
    return (
        guess.may_tell_of(other)
        and not is_secret_table(other.relation.name)
        and all(
            two is not None
            and one in guess.usable
            and two in other.usable
            and is_single(one)
            and is_single(two)
            and is_comparable(one, two)
            for one, two in pairs
        )
    )


def add_fields(draft: TableDraft, guess: TableGuess) -> None:
    """All other columns that hold plain values, and why the rest is left out."""
    columns = guess.relation.columns
    paths = {
        each.name: holder for each in columns for holder in keys_of(each.name)[:1] if holder in guess.relation.by_name
    }
    # keys of a JSON column can be asked about without being declared
    known = {*declared_columns(draft), *guess.secrets, *paths}
    rest = [each for each in columns if each.name not in known]
    draft.fields += [each.name for each in rest if is_writable(each.name) and PLAIN.accepts(each)]
    left_out = [each for each in rest if each.name not in {*draft.fields, *paths.values()}]
    unused = [f"{toml_text.shown(each.name)} ({_why_left_out(each)})" for each in left_out]
    if unused:
        draft.remarks.append(f"left out: {', '.join(unused)}")


def declared_columns(draft: TableDraft) -> Iterator[str]:
    """The columns of its own that a draft declares."""
    settings = draft.settings
    for key in ("text", "date", "key"):
        yield from _listed(settings.get(key) or ())
    yield from line_columns([each for key in ("title", "url") if isinstance(each := settings.get(key), str)])
    for name, facet in draft.facets.items():
        if isinstance(facet, Mapping) and "through" not in facet:
            yield from expression_columns(facet["expression"]) if "expression" in facet else ()
            yield str(facet.get("by") or facet.get("column") or name)
        elif not isinstance(facet, Mapping):
            yield name
    for link in draft.links.values():
        yield from _listed(link["by"] if isinstance(link, Mapping) else link)


def _listed(named: object) -> Iterable[str]:
    return [named] if isinstance(named, str) else named if isinstance(named, Iterable) else ()


def _why_left_out(column: Column) -> str:
    return toml_text.shown(column.type) if is_writable(column.name) else "its name cannot be written here"
