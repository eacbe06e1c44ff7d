"""Checks the conditions of a request against the fields and values of the data: unknown ones are refused, with the nearest."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.algebra import AllOf, AnyOf, Comparison, Condition, Exists, Not, conditions_of
from quarry.query.execute import RowConditions
from quarry.query.schema import Schema
from quarry.query.understood import OWN, Understood
from quarry.retrieval.facets import SearchTable
from quarry.retrieval.known_values import NamedCondition, conditions_meant

Fixed = Callable[[Comparison], Sequence[str]]
"""The values of a comparison that exist even where no row has them; none unless all are such."""


Former = TypeVar("Former")
"""The form in which a domain's requests held their constraints before."""


@dataclass(frozen=True)
class ConditionChecks:
    """How the conditions on the rows of one source are checked."""

    source: str
    schema: Schema
    table: SearchTable
    fixed: Fixed = lambda comparison: ()

    async def checked(
        self,
        read: Understood | None,
        former: Former | None,
        made_of: Callable[[Former], Understood],
        question: str,
        database: Database,
    ) -> Understood | None:
        """What a request says was understood, or its `former` constraints, with values as the data spells them; None if it has
        neither. Of values that the `question` itself says, unknown ones stay. Errors point to the condition, or to the former
        constraints as a whole. Raises InvalidInput and DatabaseUnavailable.
        """
        if read is not None:
            return await self._checked(read, question, database)
        if former is None:
            return None
        try:
            return await self._checked(made_of(former), question, database)
        except InvalidInput as error:
            raise InvalidInput([FieldError("/constraints", each.message) for each in error.errors]) from error

    async def _checked(self, read: Understood, question: str, database: Database) -> Understood:
        if read.query.source != self.source:
            raise InvalidInput([FieldError(f"{OWN}/query/source", f"the source is {self.source!r} here")])
        await off_loop(self._check_fields, read)
        named = [
            (pointer, leaf, group)
            for pointer, condition in _placed(read)
            for pointer, leaf, group in _compared(condition, pointer, None)
            if self._is_listed(leaf) and not self.fixed(leaf)
        ]
        conditions = [
            NamedCondition(leaf.field, [str(each) for each in leaf.scalars], f"{OWN}{place}", group, leaf.op == "!=")
            for place, leaf, group in named
        ]
        meanings = await conditions_meant(database, self.table, conditions, question)
        spelt = {place: tuple(values) for (place, _, _), values in zip(named, meanings, strict=True)}
        return read.mapped(lambda condition, pointer: self._spelt(condition, pointer, spelt))

    def _check_fields(self, read: Understood) -> None:
        placed = list(_placed(read))
        today = datetime.datetime.now(datetime.UTC).date()
        try:
            RowConditions(self.source, self.schema, today, {}).met([each for _, each in placed])
        except InvalidInput as error:
            raise InvalidInput([FieldError(_at(each.pointer, placed), each.message) for each in error.errors]) from None

    def _is_listed(self, comparison: Comparison) -> bool:
        field = self.schema.sources[self.source].fields.get(comparison.field)
        is_equal = comparison.op in ("=", "!=") and bool(comparison.scalars)
        return is_equal and field is not None and field.listed is not None

    def _spelt(self, condition: Condition, pointer: str, spelt: dict[str, tuple[str, ...]]) -> Condition | None:
        """The condition in the spelling of the data; None where nothing of it is left."""
        match condition:
            case Comparison():
                values = tuple(self.fixed(condition)) or spelt.get(pointer)
                if values is None:
                    return condition
                return condition.model_copy(update={"value": None, "values": values}) if values else None
            case Not():
                inner = self._spelt(condition.negated, f"{pointer}/not", spelt)
                return None if inner is None else Not(negated=inner)
            case AnyOf() | AllOf():
                key = "any_of" if isinstance(condition, AnyOf) else "all_of"
                made = (
                    self._spelt(each, f"{pointer}/{key}/{place}", spelt)
                    for place, each in enumerate(conditions_of(condition))
                )
                kept = [each for each in made if each is not None]
                return type(condition).of(kept) if kept else None
        return condition


def _placed(read: Understood) -> Iterator[tuple[str, Condition]]:
    """Each condition with its pointer from the whole."""
    for pointer, condition in read.conditions:
        yield (f"/query{pointer}" if pointer.startswith("/where") else pointer), condition


def _compared(condition: Condition, pointer: str, group: str | None) -> Iterator[tuple[str, Comparison, str | None]]:
    """The comparisons of a condition with their pointers, and the pointer of the alternatives that each is one of."""
    match condition:
        case Comparison():
            yield pointer, condition, group
        case Not():
            yield from _compared(condition.negated, f"{pointer}/not", group)
        case AnyOf() | AllOf():
            key = "any_of" if isinstance(condition, AnyOf) else "all_of"
            for place, each in enumerate(conditions_of(condition)):
                yield from _compared(each, f"{pointer}/{key}/{place}", pointer if key == "any_of" else group)
        case Exists():
            return


def _at(pointer: str, placed: Sequence[tuple[str, Condition]]) -> str:
    """The pointer of an error about all conditions in one list, from the whole."""
    found = re.match(r"/where/(\d+)", pointer)
    return f"{OWN}{placed[int(found[1])][0]}{pointer[found.end() :]}" if found else OWN
