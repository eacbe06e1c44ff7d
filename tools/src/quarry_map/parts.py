"""The parts of a table's draft, their names, and their lines in `quarry.toml`; and which dates are deadlines,
or mark something as done, by the meaning of their names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import mul
from typing import Literal, NamedTuple

from quarry.collections import toml_text
from quarry.collections.guessing import is_date
from quarry.collections.names import known, words
from quarry.collections.relations import Column, Relation
from quarry.language.word_forms import singular
from quarry.models.interface import EmbeddingModel
from quarry_map.table_guess import TableGuess

SHORTENED_MIN = 3
"""The least length of an abbreviated table name."""


@dataclass
class TableDraft:
    """A collection's declaration. `reasons` say why settings and facets were guessed.

    `fields` are columns that are only queried, `links` references that give a row no name, `predicates` named conditions, and
    `remarks` whole lines of comment.
    """

    settings: dict[str, object] = field(default_factory=dict)
    facets: dict[str, object] = field(default_factory=dict)
    links: dict[str, object] = field(default_factory=dict)
    predicates: dict[str, object] = field(default_factory=dict)
    fields: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    @property
    def named(self) -> list[str]:
        """The names of facets and links, which predicates cannot have."""
        return [*self.facets, *self.links]

    def set(self, name: str, value: object, reason: str | None = None) -> None:
        """Set a value that is not empty."""
        if value:
            self.settings[name] = value
            if reason:
                self.reasons[name] = reason


def name_by_reference(column: str, other: TableGuess) -> str:
    """The name of a facet for a column that refers to a table: `support_agent` for `support_agent_id`."""
    terms = words(column)
    called = "_".join(terms[:-1] if terms[-1] in known("key_ending") else terms)
    own = singular("_".join(words(other.relation.name)))
    if not called or (len(called) >= SHORTENED_MIN and own.startswith(called)):
        # `isbn` refers to books, `prod_id` to products
        return own
    # in a name that is run together, the table's name is a word
    return f"{called.removesuffix(own)}_{own}" if re.search(rf"[^_]{re.escape(own)}$", called) else called


def in_lines(name: str, relation: Relation, drafted: TableDraft, more: Iterable[str] = ()) -> Iterator[str]:
    """The lines of a collection, each with the reason for it; `more` are further lines."""
    yield f"[collections.{toml_text.key(name)}]  # {_size(relation)}"
    for setting, value in drafted.settings.items():
        if setting == "hidden" and isinstance(value, dict):
            yield from _hidden(value)
        else:
            yield _line(setting, value, drafted.reasons.get(setting))
    yield from more
    yield from _facets(drafted)
    if drafted.predicates:
        yield _line("predicates", drafted.predicates, drafted.reasons.get("predicates"))
    if drafted.links:
        yield _line("links", drafted.links)
    if drafted.fields:
        yield _line("fields", drafted.fields)
    yield from (f"# {remark}" for remark in drafted.remarks)


def _size(relation: Relation) -> str:
    return "not analysed yet" if relation.rows is None else f"about {relation.rows:,} rows"


def _facets(drafted: TableDraft) -> Iterator[str]:
    """Plain facets of the same kind share one line; every other facet has its own."""
    for name, value in _alike(drafted):
        first = value[0] if isinstance(value, list) else name
        yield _line(f"facets.{toml_text.key(name)}", value, drafted.reasons.get(f"facets.{first}"))


def _alike(drafted: TableDraft) -> Iterator[tuple[str, object]]:
    """The facets as they are written: first lists of facets with the same kind and reason, under that kind, then all others."""
    alike: dict[tuple[str, str | None], list[str]] = defaultdict(list)
    for name, value in drafted.facets.items():
        if isinstance(value, str) and value not in drafted.facets:
            alike[value, drafted.reasons.get(f"facets.{name}")].append(name)
    kinds = [kind for kind, _ in alike]
    listed = {kind: names for (kind, _), names in alike.items() if len(names) > 1 and kinds.count(kind) == 1}
    yield from listed.items()
    names = {name for each in listed.values() for name in each}
    yield from ((name, value) for name, value in drafted.facets.items() if name not in names)


def _hidden(reasons: Mapping[str, str]) -> Iterator[str]:
    """One line for each column, so that its reason stands next to it and deleting the line shows the column."""
    yield "hidden = ["
    yield from (f"  {toml_text.toml(name)},  # {reason}" for name, reason in reasons.items())
    yield "]"


def _line(name: str, value: object, reason: str | None = None) -> str:
    return f"{name} = {toml_text.toml(value)}" + (f"  # {reason}" if reason else "")


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
