"""Finds deadlines among the dates of tables, and the dates and flags that mark something as done, by the meaning of their
names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import mul
from typing import Literal, NamedTuple

from quarry.collections.guessing import is_date
from quarry.collections.names import words
from quarry.collections.relations import Column, Relation
from quarry.models.interface import EmbeddingModel

Kind = Literal["due", "done", "other"]

_EXAMPLES: Mapping[Kind, tuple[str, ...]] = {
    "due": ("due date", "payment due by", "deadline"),
    "done": ("date closed", "date paid", "date returned", "date completed", "is done"),
    "other": (
        "start date", "creation date", "date updated", "birth date", "date published", "end date", "order date", "delivery date",
        "date of event", "hire date", "date opened", "date issued", "date received", "is active",
    ),
}  # fmt: skip
"""Example names of each kind of date. A column is of the kind of the nearest example."""
_NEAR: Mapping[Kind, tuple[float, float]] = {"due": (0.5, 0.08), "done": (0.4, 0.0), "other": (0.0, 0.0)}
"""For each kind the least cosine to an example, and the least lead over the other kinds. Of 343 names of dates and flags in
170 databases, four pass as due: three deadlines, and a flag, which is never drafted as one.
"""


class DateKind(NamedTuple):
    """A kind, and the cosine between the name and the nearest example."""

    kind: Kind
    nearness: float


DateKinds = Mapping[str, DateKind]
"""By column name."""
NOT_READ: DateKinds = {}


def may_be_read(column: Column) -> bool:
    """Whether a column is a date, or a flag that may stand for one."""
    return is_date(column) or (column.category == "B" and not column.is_array)


async def date_kinds(relations: Iterable[Relation], model: EmbeddingModel) -> DateKinds:
    """The kinds of the dates and flags of tables, by name. Raises ModelError."""
    names = sorted({each.name for relation in relations for each in relation.columns if may_be_read(each)})
    kinds = [(kind, example) for kind, examples in _EXAMPLES.items() for example in examples]
    if not names:
        return NOT_READ
    examples = await model.embed([example for _, example in kinds])
    vectors = await model.embed([" ".join(words(name)) or name for name in names])
    near = ([sum(map(mul, vector, example)) for example in examples] for vector in vectors)
    return {name: _kind([kind for kind, _ in kinds], cosines) for name, cosines in zip(names, near, strict=True)}


def _kind(kinds: list[Kind], near: list[float]) -> DateKind:
    nearest = {kind: max(value for own, value in zip(kinds, near, strict=True) if own == kind) for kind in _EXAMPLES}
    second, first = sorted(nearest, key=lambda kind: nearest[kind])[-2:]
    least, margin = _NEAR[first]
    is_clear = nearest[first] >= least and nearest[first] - nearest[second] >= margin
    return DateKind(first if is_clear else "other", nearest[first])
