"""What a draft reckons from several columns of a row: what a line comes to, how long something lasted, whether it is overdue."""

from __future__ import annotations

import re

from quarry.collections import toml_text
from quarry.collections.date_kinds import DateKinds, may_be_read
from quarry.collections.draft_parts import TableDraft, unique
from quarry.collections.guessing import is_date, is_sale, words, written_out
from quarry.collections.guessing_numbers import (
    QUANTITIES,
    TOTALS,
    in_hundredths,
    in_percent,
    is_amount,
    is_number,
    is_share,
    is_side_amount,
)
from quarry.collections.reached import Guesses, buys
from quarry.collections.relations import Column
from quarry.collections.table_guess import TableGuess

OVERDUE = "overdue"


def add_sum(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """What a line costs that has a price and a quantity, where nothing else says it."""
    numbers = [column for column in guess.usable if is_number(column) and column.name not in guess.referring]
    amounts = [each for each in numbers if is_amount(each) and not is_side_amount(each)]
    prices, quantities = _prices(guess), _quantities(guess)
    totals = [each for each in amounts if each not in prices]
    if totals or len(prices) != 1 or len(quantities) != 1:
        return
    reductions = [each for each in numbers if "discount" in words(each.name)]
    product = " * ".join(map(in_expression, (prices[0], quantities[0], *reductions)))
    product += " / 100" if in_hundredths(prices[0]) else ""
    if reductions and not all(is_share(each) or in_percent(each) for each in reductions):
        draft.remarks.append(
            f'an amount? {{ kind = "money", expression = {toml_text.toml(product)} }}, if that is how it is computed'
        )
        return
    is_revenue = is_sale(guess.relation.name) and buys(guess, guesses)
    is_held = bool({"stock", "inventory"} & {*words(quantities[0].name)})
    called = unique("revenue" if is_revenue else "stock_value" if is_held else "amount", draft.facets)
    draft.facets[called] = {"kind": "money", "expression": product}
    draft.reasons[f"facets.{called}"] = "guessed"


def _prices(guess: TableGuess) -> list[Column]:
    amounts = (column for column in guess.usable if is_amount(column) and not is_side_amount(column))
    return [each for each in amounts if "price" in words(each.name) and TOTALS.isdisjoint(words(each.name))]


def _quantities(guess: TableGuess) -> list[Column]:
    numbers = (column for column in guess.usable if is_number(column) and column.name not in guess.referring)
    return [each for each in numbers if QUANTITIES & {*words(each.name)}]


def add_duration(draft: TableDraft, guess: TableGuess) -> None:
    """How many days lie between the only date on which something began, by its name, and the only one on which it ended."""
    span = guess.span
    if span and "duration" not in draft.facets:
        begun, ended = span
        days = f"{in_expression(ended)} - {in_expression(begun)}"
        draft.facets["duration"] = {"kind": "number", "expression": days, "unit": "days"}
        draft.reasons["facets.duration"] = "guessed"


def add_overdue(draft: TableDraft, guess: TableGuess, kinds: DateKinds) -> None:
    """Rows whose only date until which something is to be done has passed, and that nothing says to be done: the column called
    most like that which may be empty, a date or a flag.
    """
    read = [(each, kinds[each.name]) for each in guess.usable if each.name in kinds and may_be_read(each)]
    due = [column for column, each in read if each.kind == "due" and is_date(column)]
    closing = [
        (each.nearness, column)
        for column, each in read
        if each.kind == "done" and (column.is_nullable or not is_date(column))
    ]
    if len(due) != 1 or not closing or OVERDUE in {*draft.named, *guess.relation.by_name}:
        return
    _, closed = max(closing, key=lambda each: each[0])
    is_open = f"{quoted(closed)} is null" if is_date(closed) else f"not {quoted(closed)}"
    draft.predicates[OVERDUE] = f"{quoted(due[0])} < today and {is_open}"
    draft.reasons["predicates"] = "guessed by what its dates are called"


def quoted(column: Column) -> str:
    """A column as expressions and predicates name it, in quotes where it needs them."""
    return column.name if re.fullmatch(r"[a-z_]+[0-9_]*", column.name) else '"' + column.name.replace('"', '""') + '"'


def in_expression(column: Column) -> str:
    name = quoted(column)
    if "discount" not in words(column.name):
        return name
    part = f"coalesce({name}, 0)" if column.is_nullable else name
    return f"(1 - {part} / 100)" if in_percent(column) else f"(1 - {part})"


def name_of_amount(column: Column) -> str:
    """What an amount's facet is called: `total` of `total_cents`."""
    return "_".join(words(column.name)[:-1]) if in_hundredths(column) else written_out(column.name)
