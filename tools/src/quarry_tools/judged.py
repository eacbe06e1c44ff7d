"""Judged queries: what a good search finds for them, and what they demand of results. A file has one query per line, as JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from quarry.platform.contract import plain_words
from quarry.platform.errors import QuarryError
from quarry.platform.text import CleanText, Identifier, QueryText
from quarry.postgres.load import RowProblem
from quarry.services.services import Caller
from quarry_tools.expectation import Expectation

Grade = Annotated[int, Field(ge=1, le=3)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class JudgedQuery(BaseModel):
    """A query and what a good search does with it; docs/evaluating.md documents the fields.

    `relevant` has the grade (1 to 3) of every relevant key; empty: a good search finds nothing. It may be omitted next to
    `expect`, the right answer in words. `earlier` are the previous questions of the same conversation.

    A result violates a demand if it does not meet `must`, is in `forbidden` or, with `hard`, is not relevant. If `must` names
    no status, startups are demanded, unless companies of `any_status` count.

    `user` asks, with additional `claims`, if the results depend on the user.

    `types` are the kinds of record requested; an answer states `number`, and says that the data does not contain it if the
    question is not `answerable`. `answer_mentions` are facts in a right answer. Other fields of a line are kept in
    `model_extra`, for the tests of a domain.
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    id: Identifier
    domain: Identifier
    kind: Identifier
    query: QueryText
    relevant: dict[Key, Grade]
    earlier: list[QueryText] = Field(default_factory=list, max_length=20)
    expect: Expectation | None = None
    must: Demands | None = None
    any_status: bool = False
    forbidden: list[Key] = Field(default_factory=list)
    hard: bool = False
    user: Identifier | None = None
    claims: dict[str, str] = Field(default_factory=dict)
    types: list[Identifier] = Field(default_factory=list)
    number: int | None = Field(default=None, ge=0)
    answerable: bool | None = None
    answer_mentions: list[CleanText] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _expected_or_relevant(cls, line: Any) -> Any:
        return {"relevant": {}} | line if isinstance(line, dict) and "expect" in line else line

    def caller_or(self, otherwise: Caller) -> Caller:
        """The caller; `otherwise` if the query does not name one."""
        if self.user is None and not self.claims:
            return otherwise
        return Caller(self.user or otherwise.user_id, self.claims)

    @property
    def has_answer(self) -> bool:
        """Whether the data answers it."""
        return bool(self.relevant) or (self.expect is not None and not self.expect.unanswerable)

    @property
    def has_results(self) -> bool:
        """Whether a good search returns something."""
        return bool(self.relevant) or (self.expect is not None and bool(self.expect.ids or self.expect.relevant))

    @property
    def demands(self) -> Demands | None:
        """`must`, with the implied status if the query names none."""
        if self.must is None or self.must.status or self.any_status:
            return self.must
        return self.must.model_copy(update={"status": ["startup"]})


class JudgedFileError(QuarryError):
    """The file cannot be evaluated; `problems` lists the wrong lines."""

    status = 422
    title = "Not evaluated"

    def __init__(self, path: Path, problems: list[RowProblem]) -> None:
        self.problems = problems
        super().__init__(f"{path.name}: " + "; ".join(str(problem) for problem in problems))


def read_judged(path: Path, domains: Collection[str] | None = None) -> list[JudgedQuery]:
    """The judged queries of a file, in order; empty lines are skipped.

    Raises JudgedFileError for wrong lines, repeated ids, domains other than `domains` (None: any), and files without queries;
    OSError.
    """
    queries: list[JudgedQuery] = []
    problems: list[RowProblem] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            query = JudgedQuery.model_validate_json(line)
        except ValidationError as error:
            problems += _problems(number, error)
            continue
        if query.id in first_line:
            problems.append(RowProblem(number, "id", f"{query.id!r} is also on line {first_line[query.id]}"))
        if domains is not None and query.domain not in domains:
            problems.append(RowProblem(number, "domain", f"is {query.domain!r}, not one of {', '.join(domains)}"))
        first_line.setdefault(query.id, number)
        queries.append(query)
    if not queries and not problems:
        problems.append(RowProblem(1, "line", "the file holds no query"))
    if problems:
        raise JudgedFileError(path, problems)
    return queries


def _problems(line: int, error: ValidationError) -> Iterator[RowProblem]:
    for detail in error.errors(include_input=False, include_url=False):
        field = ".".join(str(part) for part in detail["loc"] if part != "[key]")
        yield RowProblem(line, field or "line", plain_words(detail))


Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(min_length=1, max_length=500)]


def _compilable(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


@dataclass(frozen=True)
class Facts:
    """The fields of a row that demands can check; None and empty mean unknown. `text` is all its words."""

    status: str | None = None
    country: str | None = None
    city: str | None = None
    year: int | None = None
    staff: int | None = None
    tags: Sequence[str] = ()
    niches: Sequence[str] = ()
    text: str = ""


class Demands(BaseModel):
    """Demands that every result must meet, all of them.

    Of a list, one value must match, ignoring case; of a `not_` list, none may. Bounds are inclusive. An unknown value meets no
    demand and violates no negation. `not_text` is a case-insensitive regular expression that name, texts and tags must not
    match.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    status: Names | None = None
    country: Names | None = None
    not_country: Names | None = None
    city: Names | None = None
    not_city: Names | None = None
    year_min: int | None = None
    year_max: int | None = None
    staff_min: int | None = None
    staff_max: int | None = None
    tag: Names | None = None
    not_tag: Names | None = None
    niche: Names | None = None
    not_text: Annotated[str, StringConstraints(min_length=1, max_length=2000), AfterValidator(_compilable)] | None = (
        None
    )

    def are_met_by(self, facts: Facts) -> bool:
        """Whether a row meets all of them."""
        return (
            _among(self.status, [facts.status])
            and _among(self.country, [facts.country])
            and _none_of(self.not_country, [facts.country])
            and _among(self.city, [facts.city])
            and _none_of(self.not_city, [facts.city])
            and _within(facts.year, self.year_min, self.year_max)
            and _within(facts.staff, self.staff_min, self.staff_max)
            and _among(self.tag, facts.tags)
            and _none_of(self.not_tag, facts.tags)
            and _among(self.niche, facts.niches)
            and not (self.not_text and re.search(self.not_text, facts.text, re.IGNORECASE))
        )


def _among(allowed: Sequence[str] | None, values: Iterable[str | None]) -> bool:
    return allowed is None or bool(_plain(allowed) & _plain(values))


def _none_of(unwanted: Sequence[str] | None, values: Iterable[str | None]) -> bool:
    return unwanted is None or not _plain(unwanted) & _plain(values)


def _within(value: int | None, least: int | None, most: int | None) -> bool:
    if least is None and most is None:
        return True
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def _plain(values: Iterable[str | None]) -> set[str]:
    return {value.casefold() for value in values if value}
