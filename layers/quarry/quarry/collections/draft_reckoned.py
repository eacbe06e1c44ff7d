"""What a draft reckons from several columns of a row: what a line comes to, and how long something lasted."""

from __future__ import annotations

import re

from quarry.collections import toml_text
from quarry.collections.draft_parts import TableDraft, unique
from quarry.collections.guessing import is_sale, words, written_out
from quarry.collections.guessing_numbers import (
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
from quarry.language.tokens import stem
from quarry.spans.quantities import PAYMENTS, QUANTITIES, TOTALS

REVENUE = ("revenue", "sales", "turnover")
"""What people call the amounts of what they sell."""


def add_sum(draft: TableDraft, guess: TableGuess, guesses: Guesses) -> None:
    """What a line costs that has a price and a quantity; and that an amount of a sale is what people call revenue."""
    numbers = [column for column in guess.usable if is_number(column) and column.name not in guess.referring]
    amounts = [each for each in numbers if is_amount(each) and not is_side_amount(each)]
    prices, quantities = _prices(guess), _quantities(guess)
    totals = [each for each in amounts if each not in prices]
    is_revenue = is_sale(guess.relation.name) and buys(guess, guesses) and not _pays_for_lines(guess, guesses)
    if len(totals) == 1 and is_revenue and (called := name_of_amount(totals[0])) in draft.facets:
        declared = draft.facets[called]
        draft.facets[called] = {**(declared if isinstance(declared, dict) else {"kind": "money"}), "words": [*REVENUE]}
    if totals or len(prices) != 1 or len(quantities) != 1:
        return
    reductions = [each for each in numbers if "discount" in words(each.name)]
    product = " * ".join(map(in_expression, (prices[0], quantities[0], *reductions)))
    product += " / 100" if in_hundredths(prices[0]) else ""
    if reductions and not all(is_share(each) or in_percent(each) for each in reductions):
        draft.remarks.append(
            f'an amount? {{ kind = "money", expression = {toml_text.toml(product)} }}, if that is how it is reckoned'
        )
        return
    is_held = bool({"stock", "inventory"} & {*words(quantities[0].name)})
    called = unique(REVENUE[0] if is_revenue else "stock_value" if is_held else "amount", draft.facets)
    declared = {"kind": "money", "expression": product}
    draft.facets[called] = {**declared, **({"words": [*REVENUE[1:], "amount"]} if is_revenue else {})}
    draft.reasons[f"facets.{called}"] = "guessed"


def _pays_for_lines(guess: TableGuess, guesses: Guesses) -> bool:
    """Whether its rows pay for what others list with price and quantity: what was sold for is told by these."""
    targets = {each.target for each in guess.references.values()}
    listed = (each for each in guesses.values() if each is not guess and _prices(each) and _quantities(each))
    is_payment = any(stem(word) in PAYMENTS for word in words(guess.relation.name))
    return is_payment and any(targets & {each.target for each in lines.references.values()} for lines in listed)


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


def in_expression(column: Column) -> str:
    name = column.name if re.fullmatch(r"[a-z_][a-z0-9_]*", column.name) else '"' + column.name.replace('"', '""') + '"'
    if "discount" not in words(column.name):
        return name
    part = f"coalesce({name}, 0)" if column.is_nullable else name
    return f"(1 - {part} / 100)" if in_percent(column) else f"(1 - {part})"


def name_of_amount(column: Column) -> str:
    """What an amount's facet is called: `total` of `total_cents`."""
    return "_".join(words(column.name)[:-1]) if in_hundredths(column) else written_out(column.name)
