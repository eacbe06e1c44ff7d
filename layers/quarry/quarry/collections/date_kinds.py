"""Which dates and flags of tables are deadlines, and which say that something is done, by the meaning of their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np

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
"""One name for each kind of date that tables have: a column is of the kind of the example that its name is nearest to."""
_NEAR: Mapping[Kind, tuple[float, float]] = {"due": (0.5, 0.08), "done": (0.4, 0.0), "other": (0.0, 0.0)}
"""The least cosine between a name and an example of a kind, and the least lead over every other kind. Of 343 names of dates and
flags in 170 databases, four pass as due; three are deadlines, and the fourth is a flag, which is never drafted as one.
"""


class DateKind(NamedTuple):
    """A kind, and how near the name is to an example of it: a cosine."""

    kind: Kind
    nearness: float


DateKinds = Mapping[str, DateKind]
"""By the names of columns."""
NOT_READ: DateKinds = {}


def may_be_read(column: Column) -> bool:
    """Whether a column is a date, or a flag that may stand for one."""
    return is_date(column) or (column.category == "B" and not column.is_array)


async def date_kinds(relations: Iterable[Relation], model: EmbeddingModel) -> DateKinds:
    """The kinds of the dates and flags of tables, by the names of these. Raises ModelError."""
    names = sorted({each.name for relation in relations for each in relation.columns if may_be_read(each)})
    kinds = [(kind, example) for kind, examples in _EXAMPLES.items() for example in examples]
    if not names:
        return NOT_READ
    examples = np.array(await model.embed([example for _, example in kinds]))
    near = np.array(await model.embed([" ".join(words(name)) or name for name in names])) @ examples.T
    return {name: _kind([kind for kind, _ in kinds], row.tolist()) for name, row in zip(names, near, strict=True)}


def _kind(kinds: list[Kind], near: list[float]) -> DateKind:
    nearest = {kind: max(value for own, value in zip(kinds, near, strict=True) if own == kind) for kind in _EXAMPLES}
    second, first = sorted(nearest, key=lambda kind: nearest[kind])[-2:]
    least, margin = _NEAR[first]
    is_told = nearest[first] >= least and nearest[first] - nearest[second] >= margin
    return DateKind(first if is_told else "other", nearest[first])
