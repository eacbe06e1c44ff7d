"""Parts of a table's draft that depend on several columns or on other tables. Pure.

Computed amounts and durations, overdue rows, links, plain fields, the condition that leaves out deleted rows, and vectors
that the table holds; and what a row leads to through references: a line of an order leads to the customer, and to the customer's
country.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.names import (
    as_toml,
    comment_name,
    full_name,
    in_hundredths,
    in_percent,
    is_amount,
    is_date,
    is_flag,
    is_number,
    is_place,
    is_share,
    is_text,
    is_writable,
    means,
    quoted_table,
    says,
    slug,
    unique,
    word_set,
    words,
)
from quarry.collections.relations import Column, Embedding, Reference, keys_of
from quarry.collections.secrets import is_secret_table
from quarry.collections.uses import PLAIN, VECTOR, dimensions_of, uses
from quarry.language.word_forms import names_doer, singular
from quarry_map.table_guess import DateKinds, TableDraft, TableGuess, is_date_or_flag, name_by_reference

Guesses = Mapping[tuple[str, str], TableGuess]
"""By schema and name of the table."""

REFERENCES_MAX = 4
"""The most references followed in a row."""


@dataclass(frozen=True)
class Reached:
    """Another table's row, and the `steps` to it: columns, each with its reference."""

    guess: TableGuess
    steps: tuple[tuple[str, Reference], ...]

    def declared(self, kind: str, title: str) -> dict[str, object]:
        """The facet that shows the line `title` of that row."""
        value: object = title
        for column, reference in reversed(self.steps):
            value = {"by": column, "of": quoted_table(*reference.target), "title": value}
        assert isinstance(value, dict)
        return {"kind": kind, **value}


def reached(guess: TableGuess, guesses: Guesses) -> list[Reached]:
    """The tables that a table leads to, each by its shortest path, nearest first; buyers first among equally near ones."""
    paths: list[Reached] = []
    visited = {guess.relation.qualified}
    waiting = deque([Reached(guess, ())])
    while waiting:
        here = waiting.popleft()
        if len(here.steps) == REFERENCES_MAX:
            continue
        for column, reference, other in _referred(here.guess, guesses):
            if reference.target not in visited:
                visited.add(reference.target)
                paths.append(Reached(other, (*here.steps, (column, reference))))
                waiting.append(paths[-1])
    return sorted(paths, key=lambda each: len(each.steps))


def buys(guess: TableGuess, guesses: Guesses) -> bool:
    """Whether its rows are about purchases, by the tables that they refer to, or by columns of either."""
    near = [each.guess for each in reached(guess, guesses) if len(each.steps) <= len(("order", "customer"))]
    columns = (column.name for each in (guess, *near) for column in each.relation.columns)
    return any(means(each.relation.name, "buyer") for each in near) or any(means(column, "buyer") for column in columns)


def _referred(guess: TableGuess, guesses: Guesses) -> Sequence[tuple[str, Reference, TableGuess]]:
    tables = [
        (column.name, reference, guesses[reference.target])
        for column in guess.relation.columns
        if (reference := guess.references.get(column.name))
        and reference.target in guesses
        and column in guess.usable
        and column not in guess.scopes
        and guess.joins(column, guesses[reference.target], reference.target_columns[0])
    ]
    return sorted(tables, key=lambda each: not means(each[2].relation.name, "buyer"))


def telling_columns(guess: TableGuess) -> Iterator[tuple[Column, str]]:
    """The columns with a row's kind or place, and the kinds of their facets; columns with such a name come first."""
    others = []
    for column in guess.categories:
        if is_place(column, guess.relation):
            yield column, "place"
        elif column.category == "E" or says(column.name, "category"):
            yield column, "value"
        elif is_text(column) and not names_doer(last_word(column.name)):
            others.append(column)
    yield from ((column, "value") for column in others)


def last_word(name: str) -> str:
    """What a name is of: "country" of `ship_country`."""
    return (words(name) or ("",))[-1]


OVERDUE = "overdue"


def add_sum(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """Add the amount of a row with a price and a quantity, unless a column holds it."""
    prices, quantities = _prices(guess), _quantities(guess)
    numbers = [column for column in guess.usable if is_number(column) and column.name not in guess.referring]
    totals = [each for each in numbers if is_amount(each) and not says(each.name, "side_amount") and each not in prices]
    if totals or len(prices) != 1 or len(quantities) != 1:
        return
    reductions = [each for each in numbers if "discount" in words(each.name)]
    product = _product(prices[0], quantities[0], reductions)
    if any(is_amount(each) or not (is_share(each) or in_percent(each)) for each in reductions):
        draft.remarks.append(
            f'an amount? {{ kind = "money", expression = {as_toml(product)} }}, if that is how it is computed'
        )
        return
    is_revenue = means(guess.relation.name, "sale") and buys(guess, guesses)
    has_value = bool({"stock", "inventory"} & {*words(quantities[0].name)})
    measure = unique("revenue" if is_revenue else "stock_value" if has_value else "amount", draft.facets)
    currency = {"currency": {"column": guess.currency.name}} if guess.currency else {}
    draft.facets[measure] = {"kind": "money", "expression": product, **currency}
    draft.reasons[f"facets.{measure}"] = "guessed"


def _product(price: Column, quantity: Column, reductions: Sequence[Column]) -> str:
    """The price of a quantity after reductions: shares of it, or amounts in the unit of the price."""
    shares = [_remaining_after(each) for each in reductions if not is_amount(each)]
    product = " * ".join([quoted(price), quoted(quantity), *shares])
    amounts = "".join(f" - {_of_row(each)}" for each in reductions if is_amount(each))
    if not in_hundredths(price):
        return product + amounts
    return f"({product}{amounts}) / 100" if amounts else f"{product} / 100"


def _of_row(column: Column) -> str:
    return f"coalesce({quoted(column)}, 0)" if column.is_nullable else quoted(column)


def _remaining_after(discount: Column) -> str:
    """The share of a price that a discount leaves."""
    return f"(1 - {_of_row(discount)} / 100)" if in_percent(discount) else f"(1 - {_of_row(discount)})"


def _prices(guess: TableGuess) -> list[Column]:
    amounts = (column for column in guess.usable if is_amount(column) and not says(column.name, "side_amount"))
    return [each for each in amounts if "price" in words(each.name) and not says(each.name, "total")]


def _quantities(guess: TableGuess) -> list[Column]:
    numbers = (column for column in guess.usable if is_number(column) and column.name not in guess.referring)
    return [each for each in numbers if says(each.name, "quantity")]


def add_duration(draft: TableDraft, guess: TableGuess) -> None:
    """Add the days between the only date on which something began and the only one on which it ended."""
    span = guess.span
    if span and "duration" not in draft.facets:
        start, ended = span
        days = f"{quoted(ended)} - {quoted(start)}"
        draft.facets["duration"] = {"kind": "number", "expression": days, "unit": "days"}
        draft.reasons["facets.duration"] = "guessed"


def add_overdue(draft: TableDraft, guess: TableGuess, kinds: DateKinds) -> None:
    """Add a predicate for rows that are past their only due date and not done.

    Of several columns that may mark a row as done, the one whose name is nearest to that meaning counts.
    """
    columns = [(each, kinds[each.name]) for each in guess.usable if each.name in kinds and is_date_or_flag(each)]
    due = [column for column, each in columns if each.kind == "due" and is_date(column)]
    closing = [
        (each.nearness, column)
        for column, each in columns
        if each.kind == "done" and (column.is_nullable or not is_date(column))
    ]
    if len(due) != 1 or not closing or OVERDUE in {*draft.names, *guess.relation.by_name}:
        return
    _, closed = max(closing, key=lambda each: each[0])
    is_open = f"{quoted(closed)} is null" if is_date(closed) else f"not {quoted(closed)}"
    draft.predicates[OVERDUE] = f"{quoted(due[0])} < today and {is_open}"
    draft.reasons["predicates"] = "guessed by the names of its dates"


def measure_notes(draft: TableDraft, guess: TableGuess) -> Iterator[str]:
    """The sums of a row's own amounts, as measures to uncomment. The price of one piece of a quantity has no sum."""
    single = {name_of_amount(each) for each in _prices(guess)} if _quantities(guess) else set[str]()
    for name, facet in draft.facets.items():
        declared = facet if isinstance(facet, Mapping) else {"kind": facet}
        if declared.get("kind") != "money" or "of" in declared or "related" in declared or name in single:
            continue
        measure = unique(
            f"{'sum_of' if says(name, 'total') else 'total'}_{name}",
            {*draft.names, *draft.predicates, *guess.relation.by_name},
        )
        unit = {"unit": code} if isinstance(code := declared.get("currency"), str) else {}
        yield f"measures.{measure} = {as_toml({'sum': name, **unit})}"


def quoted(column: Column) -> str:
    """A column as expressions and predicates name it, in quotes where it needs them."""
    return column.name if re.fullmatch(r"[a-z_]+[0-9_]*", column.name) else '"' + column.name.replace('"', '""') + '"'


def name_of_amount(column: Column) -> str:
    """The name of an amount's facet: `total` for `total_cents`."""
    return "_".join(words(column.name)[:-1]) if in_hundredths(column) else full_name(column.name)


def add_links(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """Add links for the references that no facet uses."""
    by_reference = names_of_references(guess, guesses)
    # a facet that copies another column of that row leads nowhere by the reference's name
    used: set[tuple[str, ...]] = {
        (column,)
        for column, name in by_reference.items()
        if isinstance(facet := draft.facets.get(name), Mapping) and facet.get("by") == column
    }
    for reference in dict.fromkeys(guess.relation.references):
        other = guesses.get(reference.target)
        if other is None or reference.columns in used or not _may_link(guess, reference, other):
            continue
        used.add(reference.columns)
        own = singular("_".join(words(other.relation.name)))
        likely = by_reference.get(reference.columns[0], own) if len(reference.columns) == 1 else own
        existing = {*draft.names, *guess.relation.by_name}
        name = next((each for each in (likely, own) if each not in existing), f"{own}_row")
        by: object = reference.columns[0] if len(reference.columns) == 1 else [*reference.columns]
        declared = {"by": by, "of": quoted_table(*reference.target)}
        if reference.is_guessed and reference.target_columns != other.relation.primary_key:
            declared["key"] = [*reference.target_columns]
        draft.links[unique(slug(name, "link"), existing)] = declared if reference.is_guessed else by


def names_of_references(guess: TableGuess, guesses: Guesses) -> dict[str, str]:
    """The name of each reference of one column, by that column: of `delivery_id`, `delivery`."""
    return {
        column: slug(name_by_reference(column, guesses[reference.target]), "link")
        for column, reference in guess.references.items()
        if reference.target in guesses
    }


def _may_link(guess: TableGuess, reference: Reference, other: TableGuess) -> bool:
    """Whether rows can follow a reference. It must not lead to secrets."""
    own, usable = guess.relation.by_name, {each.name for each in other.usable}
    return not is_secret_table(other.relation.name) and all(
        own[one] in guess.usable and two in usable and guess.joins(own[one], other, two)
        for one, two in zip(reference.columns, reference.target_columns, strict=True)
    )


def add_fields(draft: TableDraft, guess: TableGuess) -> None:
    """Add the other columns with plain values as fields, and a remark on the rest."""
    columns = guess.relation.columns
    paths = {
        each.name: holder for each in columns for holder in keys_of(each.name)[:1] if holder in guess.relation.by_name
    }
    # keys of a JSON column can be queried without being declared
    declared = {*_declared_columns(draft), *guess.secrets, *paths}
    rest = [each for each in columns if each.name not in declared]
    draft.fields += [each.name for each in rest if is_writable(each.name) and PLAIN.accepts(each)]
    others = [each for each in rest if each.name not in {*draft.fields, *paths.values()}]
    unused = [
        f"{comment_name(each.name)} ({comment_name(each.type) if is_writable(each.name) else 'its name cannot be used'})"
        for each in others
    ]
    unused += [f"{comment_name(name)} ({why})" for name, why in guess.relation.unreadable.items()]
    if unused:
        draft.remarks.append(f"left out: {', '.join(unused)}")


def _declared_columns(draft: TableDraft) -> set[str]:
    """The columns of the table that a draft declares."""
    parts = {"facets": draft.facets, "links": draft.links}
    declared = CollectionDeclaration.model_validate({**draft.settings, "hidden": (), **parts})
    return {use.column for use in uses(declared, {}) if use.of is None}


_HOW_TO_INCLUDE = "delete this line to include them"


def choose_rows(draft: TableDraft, guess: TableGuess) -> None:
    """Leave out the rows that a column marks as deleted. That column becomes no facet: it is the same for all other rows."""
    for column in guess.relation.columns:
        condition = _kept_rows(column, guess)
        if condition is None:
            continue
        draft.settings = {"source": draft.settings["source"], "where": condition, **draft.settings}
        draft.reasons["where"] = f"guessed: leaves out rows that are marked as deleted; {_HOW_TO_INCLUDE}"
        for name in [name for name, facet in draft.facets.items() if _column_of(name, facet) == column.name]:
            del draft.facets[name]
        return


def choose_parents(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """Leave out the rows of deleted rows: where no column of their own marks them, they go with what they are part of."""
    if "where" in draft.settings:
        return
    parents = {
        name: {"of": quoted_table(*other.relation.qualified), "where": condition}
        for name, other in _parents(guess, guesses)
        if (condition := next(filter(None, (_kept_rows(each, other) for each in other.relation.columns)), None))
    }
    if parents:
        draft.settings = {"source": draft.settings["source"], "kept_with": parents, **draft.settings}
        draft.reasons["kept_with"] = f"guessed: leaves out rows whose parent is marked as deleted; {_HOW_TO_INCLUDE}"


def _parents(guess: TableGuess, guesses: Guesses) -> Iterator[tuple[str, TableGuess]]:
    """What rows are part of, by the column that refers to it: a sale, what their table is named after, or all that they must
    refer to. People and things that others name stay, whoever is deleted.
    """
    candidates = [
        (name, other)
        for name, reference in guess.references.items()
        if (other := guesses.get(reference.target)) is not None
        and other is not guess
        and other.relation.may_select
        and not (other.are_people or other.is_lookup or other.is_place_list)
    ]
    own = {singular(word) for word in words(guess.relation.name)}
    for name, other in candidates:
        is_only = len(candidates) == 1 and not guess.relation.by_name[name].is_nullable
        is_named = {singular(word) for word in words(other.relation.name)} < own
        if is_only or is_named or means(other.relation.name, "sale"):
            yield name, other


def choose_vectors(draft: TableDraft, guess: TableGuess, embedding: Embedding | None) -> None:
    """Use the vectors of the table if the model that embeds questions may have made them, or else suggest them in a remark."""
    candidates = [each for each in guess.relation.columns if VECTOR.accepts(each) and is_writable(each.name)]
    if len(candidates) != 1 or "text" not in draft.settings:
        return
    dimensions = dimensions_of(candidates[0])
    if embedding is None or dimensions != embedding.dimensions:
        of = f"of {dimensions} dimensions" if dimensions else "if the model that embeds questions made them"
        draft.remarks.append(
            f'vectors = "{candidates[0].name}"  # {of}: instead of `embed`, once the settings name their model'
        )
        return
    draft.settings.pop("embed", None)
    draft.reasons.pop("embed", None)
    draft.set(
        "vectors", candidates[0].name, f"if {embedding.model} made them: delete this line to have the texts embedded"
    )


def _kept_rows(column: Column, guess: TableGuess) -> str | None:
    """The condition for rows that are not deleted, if the column marks deleted rows; otherwise None."""
    if keys_of(column.name) or not is_writable(column.name):
        return None
    column_words, name = "_".join(words(column.name)), quoted(column)
    if column_words in word_set("deleted_at") and is_date(column):
        return f"{name} is null"
    is_truth = column.category == "B" and not column.is_array
    if column_words in word_set("is_deleted") and (is_truth or is_flag(column)):
        return f"{name} is not true" if is_truth else f"coalesce({name}, 0) = 0"
    if (
        column_words in word_set("is_active")
        and (is_truth or is_flag(column))
        and word_set("of_account") & {*guess.relation.by_name}
    ):
        return f"{name} is not false" if is_truth else f"coalesce({name}, 1) <> 0"
    return None


def _column_of(name: str, facet: object) -> str | None:
    if isinstance(facet, Mapping):
        return None if "by" in facet or "expression" in facet else str(facet.get("column", name))
    return name
