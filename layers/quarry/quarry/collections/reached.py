"""What a row leads to through references: a line of an order leads to the customer, and to the customer's country."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quarry.collections import toml_text
from quarry.collections.column_types import is_comparable, is_single
from quarry.collections.guessing import is_place, is_text, is_writable
from quarry.collections.names import is_called, says, words
from quarry.collections.relations import Column, Reference
from quarry.collections.table_guess import TableGuess
from quarry.language.word_forms import names_doer

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
            value = {"by": column, "of": toml_text.table(*reference.target), "title": value}
        assert isinstance(value, dict)
        return {"kind": kind, **value}


def reached(guess: TableGuess, guesses: Guesses) -> list[Reached]:
    """The tables that a table leads to, each by its shortest path, nearest first; buyers first among equally near ones."""
    found: list[Reached] = []
    seen = {guess.relation.qualified}
    waiting = deque([Reached(guess, ())])
    while waiting:
        here = waiting.popleft()
        if len(here.steps) == REFERENCES_MAX:
            continue
        for column, reference, other in _referred(here.guess, guesses):
            if reference.target not in seen:
                seen.add(reference.target)
                found.append(Reached(other, (*here.steps, (column, reference))))
                waiting.append(found[-1])
    return sorted(found, key=lambda each: len(each.steps))


def buys(guess: TableGuess, guesses: Guesses) -> bool:
    """Whether its rows are about purchases, by the tables that they refer to, or by columns of either."""
    near = [each.guess for each in reached(guess, guesses) if len(each.steps) <= len(("order", "customer"))]
    columns = (column.name for each in (guess, *near) for column in each.relation.columns)
    return any(is_called(each.relation.name, "buyer") for each in near) or any(
        is_called(column, "buyer") for column in columns
    )


def _referred(guess: TableGuess, guesses: Guesses) -> Sequence[tuple[str, Reference, TableGuess]]:
    found = [
        (column.name, reference, guesses[reference.target])
        for column in guess.relation.columns
        if (reference := guess.references.get(column.name))
        and reference.target in guesses
        and _may_follow(guess, column.name, reference, guesses[reference.target])
    ]
    return sorted(found, key=lambda each: not is_called(each[2].relation.name, "buyer"))


def _may_follow(guess: TableGuess, name: str, reference: Reference, other: TableGuess) -> bool:
    column, key = guess.relation.by_name[name], other.relation.by_name.get(reference.target_columns[0])
    if key is None or column not in guess.usable or not is_writable(key.name) or column in guess.scopes:
        return False
    if not guess.may_tell_of(other):
        return False
    return is_single(column) and is_single(key) and is_comparable(column, key)


def telling_columns(guess: TableGuess) -> Iterator[tuple[Column, str]]:
    """The columns that say what kind of thing a row is, or where it is, with the kinds of their facets; those so called come
    first.
    """
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
