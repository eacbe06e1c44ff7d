"""Guesses the role of each column of a table: title, prose, date, owner and others; and the parts of a draft
that is made of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import mul
from typing import Literal, NamedTuple

from quarry.collections.names import (
    PROSE_WIDTH,
    are_people,
    as_toml,
    comes_again,
    date_purpose,
    ends_in,
    is_category,
    is_contact,
    is_correspondent,
    is_date,
    is_machine_text,
    is_number,
    is_numbered,
    is_page,
    is_place,
    is_prose,
    is_role,
    is_scope,
    is_text,
    is_truth,
    is_writable,
    joined,
    means,
    names_owner,
    says,
    stem_set,
    text_width,
    toml_key,
    word_list,
    word_set,
    words,
)
from quarry.collections.relations import Column, Reference, Relation, covered
from quarry.collections.secrets import Suspicion, suspicion
from quarry.collections.uses import is_comparable, is_single
from quarry.language.word_forms import singular, stem
from quarry.models.interface import EmbeddingModel


@dataclass(frozen=True)
class TableGuess:
    """The columns of a table, by their likely roles.

    `ordinary_owners` are owner columns that are ordinary references. `is_private`: each row belongs to somebody.
    """

    relation: Relation
    ordinary_owners: frozenset[str] = frozenset()
    is_private: bool = False

    @cached_property
    def secrets(self) -> dict[str, Suspicion]:
        """The columns that may hold secrets, each with the reason."""
        suspicions = {column.name: suspicion(column, self.relation) for column in self.relation.columns}
        secret = {name: suspected for name, suspected in suspicions.items() if suspected}
        # keys in a hidden column need no line of their own
        return {name: each for name, each in secret.items() if not covered(name, {*secret} - {name})}

    @cached_property
    def usable(self) -> list[Column]:
        """The columns that may be shown and that a declaration can name."""
        return [
            each for each in self.relation.columns if is_writable(each.name) and not covered(each.name, self.secrets)
        ]

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The first key that a declaration can name; empty where there is none."""
        single = {column.name for column in self.usable if is_single(column)}
        return next((key for key in self.relation.keys if single.issuperset(key)), ())

    @cached_property
    def references(self) -> dict[str, Reference]:
        """The foreign keys of one column, by column."""
        return {each.columns[0]: each for each in reversed(self.relation.references) if len(each.columns) == 1}

    @cached_property
    def referring(self) -> frozenset[str]:
        return frozenset(name for reference in self.relation.references for name in reference.columns)

    @cached_property
    def texts(self) -> list[Column]:
        """Texts that people wrote, or that they may search by words."""
        return [
            column
            for column in self.usable
            if is_text(column)
            and column.name not in self.referring
            and not is_machine_text(column)
            and not is_scope(column)
            and not is_truth(column)
        ]

    @cached_property
    def person(self) -> list[Column]:
        """The columns with a person's first and last name; empty where one is missing."""
        candidates = [
            next((column for column in self.texts if joined(column.name) in word_set(names)), None)
            for names in ("first_name", "last_name")
        ]
        return [column for column in candidates if column] if None not in candidates else []

    @cached_property
    def title(self) -> list[Column]:
        """The title columns of its rows. First and last name come before a title, which may be a job."""
        return self.person or [column for column in (self._title_by_name(),) if column]

    def _title_by_name(self) -> Column | None:
        own = {joined(self.relation.name), "".join(singular(word) for word in words(self.relation.name))}
        names = [*word_list("title"), *own, *(name + ending for name in own for ending in ("name", "title"))]
        by_name = {joined(column.name): column for column in reversed(self.texts)}
        naming = [column for column in self.texts if not _holds_figures(column)]
        short = [column for column in naming if not is_prose(column)]
        only = naming if len(naming) == 1 and (naming[0].width or PROSE_WIDTH) < PROSE_WIDTH else []
        candidates = (
            *(
                by_name[name]
                for name in names
                if name in by_name and (name in word_set("title") or by_name[name] in naming)
            ),
            # an order has no name: a name in it is a person's
            *(
                column
                for column in short
                if ends_in(column.name, "title_ending")
                and not says(column.name, "no_title")
                and not means(self.relation.name, "sale")
            ),
            # a number or a code only as a last resort
            *sorted((column for column in short if column.distinct == -1 and not is_contact(column)), key=is_numbered),
            *only,
        )
        title = next(iter(candidates), None)
        return self._name_of_person(candidates) if title and self._may_be_work(title) else title

    def _may_be_work(self, title: Column) -> bool:
        """Whether a title may be what a person does: the rows are people, or it is the same in many rows."""
        repeats = title.distinct is not None and title.distinct != -1
        return is_role(title) and (are_people(self.relation.name) or repeats)

    def _name_of_person(self, columns: Sequence[Column]) -> Column:
        """The first title that is no job, if it is a name that differs from row to row or the rows are people."""
        is_of_people = are_people(self.relation.name)
        names = (
            each
            for each in columns
            if not is_role(each) and ends_in(each.name, "person_name") and (is_of_people or each.distinct == -1)
        )
        return next(names, columns[0])

    @cached_property
    def prose(self) -> list[Column]:
        """The columns with sentences, longest first; where there are none and no title, every text that may be one."""
        columns = [column for column in self.texts if is_prose(column) and column not in self.title]
        if not columns and not self.title:
            columns = [column for column in self.texts if not self._is_short(column)]
        return sorted(columns, key=lambda column: -text_width(column))

    def _is_short(self, column: Column) -> bool:
        return is_contact(column) or is_numbered(column) or _holds_figures(column) or self._is_category(column)

    def _is_category(self, column: Column) -> bool:
        return (
            is_place(column, self.relation)
            or is_category(column, self.relation.rows)
            or comes_again(column, self.relation.rows)
            or (self.are_people and is_role(column))
        )

    @cached_property
    def categories(self) -> list[Column]:
        """The columns with few different values, including places."""
        return [
            column
            for column in self.usable
            if column not in self.title
            and column not in self.prose
            and column.name not in self.referring
            and self._is_category(column)
        ]

    @cached_property
    def other_texts(self) -> list[Column]:
        """Short texts that are only searched by words."""
        used = [*self.title, *self.prose, *self.categories]
        return [column for column in self.texts if column not in used]

    @cached_property
    def date(self) -> Column | None:
        """The main date of a row: when it happened, or else when it was written; never its last change. People do not happen:
        a day on which they were hired does not say when they work there.
        """
        dates = [column for column in self.usable if is_date(column)]
        for purpose in ("created",) if are_people(self.relation.name) else ("happened", "created", "other"):
            candidates = [column for column in dates if date_purpose(column) == purpose]
            if candidates and purpose == "other" and all(column.is_nullable for column in candidates):
                # something due has a due date before it is paid
                candidates = [
                    column for column in dates if says(column.name, "due") and not column.is_nullable
                ] or candidates
            if candidates:
                return self._of_stay(min(candidates, key=lambda column: column.is_nullable))
        return None

    def _of_stay(self, date: Column) -> Column:
        """Where rows have an arrival and a departure, the arrival rather than when they were made.

        A stay in May begins in May; a booking of May may be made then.
        """
        if self.span is None or not _happens(self.span[0], "arriving"):
            return date
        own = {stem(singular(word)) for word in words(self.relation.name)}
        return date if own & {stem(word) for word in words(date.name)} else self.span[0]

    @cached_property
    def span(self) -> tuple[Column, Column] | None:
        """The only date on which something began, by its name, and the only one on which it ended. Planned dates do not
        count.
        """
        dates = [column for column in self.usable if is_date(column)]
        dates = [column for column in dates if not says(column.name, "due") and words(column.name)[-1:] != ("by",)]
        for beginning, ending in (("arriving",), ("leaving",)), (("arriving", "beginning"), ("leaving", "ending")):
            starts, ended = ([each for each in dates if _happens(each, *verbs)] for verbs in (beginning, ending))
            if len(starts) == 1 and not ended and "ending" in ending:
                # sending is the end if there is no other
                ended = [each for each in dates if _happens(each, "sending")]
            if len(starts) == len(ended) == 1 and starts != ended:
                return starts[0], ended[0]
        return None

    @cached_property
    def currency(self) -> Column | None:
        """The only column with codes of currencies: by its values or, where none are known, by its name."""
        columns = [
            each
            for each in self.usable
            if is_text(each) and (each.traits.are_currencies if each.traits else "currency" in words(each.name))
        ]
        return columns[0] if len(columns) == 1 else None

    @cached_property
    def page(self) -> Column | None:
        """The address of a page about a row."""
        return next((column for column in self.usable if is_page(column)), None)

    @cached_property
    def scopes(self) -> list[Column]:
        """The columns that may identify the owner of a row."""
        return [each for each in self.usable if is_scope(each) and each.name not in (*self.ordinary_owners, *self.key)]

    @property
    def named_owners(self) -> list[Column]:
        """The columns with names of owners, which rows can be counted by."""
        return [each for each in self.usable if is_scope(replace(each, traits=None)) and names_owner(each)]

    @property
    def owner(self) -> Column | None:
        """The column with the owner of a row: its recipient, or else whom it belongs to."""
        return next(iter((*self.correspondents, *self.scopes)), None)

    def may_tell_of(self, other: TableGuess) -> bool:
        """Whether its rows may show values of another table."""
        relation = other.relation
        return relation.may_select and not relation.is_row_security_active and (self.is_private or not other.is_private)

    def joins(self, column: Column, other: TableGuess, key: str) -> bool:
        """Whether its column can be joined with the column `key` of another table, of which it may tell."""
        target = other.relation.by_name.get(key)
        return (
            target is not None
            and self.may_tell_of(other)
            and is_writable(target.name)
            and is_single(column)
            and is_single(target)
            and is_comparable(column, target)
        )

    @property
    def correspondents(self) -> list[Column]:
        """Who a row is addressed to, then who it is from."""
        return [each for end in ("recipient", "sender") for each in self.usable if is_correspondent(each, end)]

    @property
    def texts_used(self) -> list[Column]:
        """The texts that are searched by words, most important first."""
        return [*self.title, *self.prose, *self.other_texts]

    @property
    def text_width(self) -> int:
        """The approximate bytes of text in a row."""
        return sum(map(text_width, self.texts_used))

    @property
    def key_categories(self) -> list[Column]:
        """The columns with few values in a key of several columns: rows are also counted by them."""
        columns = [self.relation.by_name[name] for name in self.key if name not in self.references]
        return [each for each in columns if is_text(each) and self._is_category(each)] if len(self.key) > 1 else []

    @property
    def is_lookup(self) -> bool:
        """Whether its rows are only names that other tables refer to."""
        content = [*self.texts_used, *self.categories]
        if self.person or self.prose or len(content) > 2 or not self.title or len(self.references) > 1:
            return False
        if says(self.title[0].name, "work_title") or any(map(is_contact, content)):
            return False
        return not self._tells_of_events

    @property
    def is_join(self) -> bool:
        """Whether its rows only join rows of other tables."""
        return len(self.references) > 1 and all(
            column.name in self.referring
            or column.name in self.key
            or column.category == "B"
            or (is_date(column) and date_purpose(column) not in ("happened", "later"))
            for column in self.relation.columns
        )

    @property
    def is_counted(self) -> bool:
        """Whether its rows record events or amounts without text: order lines, payments, rentals."""
        if self.is_join:
            return False
        return bool(self.categories and self.references) or self._tells_of_events

    @property
    def _tells_of_events(self) -> bool:
        """Whether its rows say when something happened, or how much."""
        return any(
            (is_date(column) and date_purpose(column) in ("happened", "later"))
            or (is_number(column) and column.name not in self.key and column.name not in self.referring)
            for column in self.usable
        )

    @property
    def title_repeats(self) -> bool:
        """Whether many rows have the same title, as measured. Then they are also counted by it."""
        return (
            len(self.title) == 1
            and self.title[0].distinct is not None
            and is_category(self.title[0], self.relation.rows)
        )

    @property
    def are_people(self) -> bool:
        """Whether its rows are people."""
        return bool(self.person) or are_people(self.relation.name)

    @property
    def joined(self) -> tuple[Reference, Reference] | None:
        """The two tables that it joins, even if it says more about each pair; None where it joins none."""
        references = [each for each in self.references.values() if not each.is_guessed]
        if len(references) != 2 or references[0].target == references[1].target:
            return None
        is_told_by_both = {each.columns[0] for each in references} == {*self.relation.primary_key}
        return (references[0], references[1]) if self.is_join or is_told_by_both else None

    @property
    def is_place_list(self) -> bool:
        """Whether its rows are places: `name` of `countries`."""
        if not self.title:
            return False
        title = self.title[-1]
        own = replace(title, name=singular("_".join(words(self.relation.name))))
        return is_place(title, self.relation) or is_place(own, self.relation)


def _happens(column: Column, *verbs: str) -> bool:
    """Whether the name of a date contains one of these verbs, in one word or two ("check_in")."""
    terms = words(column.name)
    return not stem_set(*verbs).isdisjoint(map(stem, (*terms, *map("".join, pairwise(terms)))))


def _holds_figures(column: Column) -> bool:
    """Whether it holds numbers or dates as text. Those are no names."""
    return column.traits is not None and column.traits.are_figures


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
    def names(self) -> list[str]:
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
    reference_name = "_".join(terms[:-1] if terms[-1] in word_set("key_ending") else terms)
    own = singular("_".join(words(other.relation.name)))
    if not reference_name or (len(reference_name) >= SHORTENED_MIN and own.startswith(reference_name)):
        # `isbn` refers to books, `prod_id` to products
        return own
    # in a name that is run together, the table's name is a word
    if re.search(rf"[^_]{re.escape(own)}$", reference_name):
        return f"{reference_name.removesuffix(own)}_{own}"
    return reference_name


def in_lines(name: str, relation: Relation, drafted: TableDraft, more: Iterable[str] = ()) -> Iterator[str]:
    """The lines of a collection, each with the reason for it; `more` are further lines."""
    size = "not analysed yet" if relation.rows is None else f"about {relation.rows:,} rows"
    yield f"[collections.{toml_key(name)}]  # {size}"
    for setting, value in drafted.settings.items():
        if setting == "hidden" and isinstance(value, dict):
            # a line each, so that its reason stands next to it and deleting the line shows the column
            yield "hidden = ["
            yield from (f"  {as_toml(column)},  # {reason}" for column, reason in value.items())
            yield "]"
        else:
            yield _line(setting, value, drafted.reasons.get(setting))
    yield from more
    for facet, value in _alike(drafted):
        first = value[0] if isinstance(value, list) else facet
        yield _line(f"facets.{toml_key(facet)}", value, drafted.reasons.get(f"facets.{first}"))
    if drafted.predicates:
        yield _line("predicates", drafted.predicates, drafted.reasons.get("predicates"))
    if drafted.links:
        yield _line("links", drafted.links)
    if drafted.fields:
        yield _line("fields", drafted.fields)
    yield from (f"# {remark}" for remark in drafted.remarks)


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


def _line(name: str, value: object, reason: str | None = None) -> str:
    return f"{name} = {as_toml(value)}" + (f"  # {reason}" if reason else "")


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
NO_KINDS: DateKinds = {}


def is_date_or_flag(column: Column) -> bool:
    """Whether a column is a date, or a flag that may stand for one."""
    return is_date(column) or (column.category == "B" and not column.is_array)


async def date_kinds(relations: Iterable[Relation], model: EmbeddingModel) -> DateKinds:
    """The kinds of the dates and flags of tables, by name. Raises ModelError."""
    names = sorted({each.name for relation in relations for each in relation.columns if is_date_or_flag(each)})
    kinds = [(kind, example) for kind, examples in _EXAMPLES.items() for example in examples]
    if not names:
        return NO_KINDS
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
