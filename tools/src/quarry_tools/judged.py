"""Judged queries: what a good search finds for them. A file holds one a line, as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from quarry.platform.errors import QuarryError
from quarry.platform.text import CleanText, Identifier, QueryText
from quarry.platform.validation import plain_words
from quarry.postgres.load import RowProblem
from quarry.services.services import Caller
from quarry_tools.demands import Demands
from quarry_tools.expectation import Expectation

Grade = Annotated[int, Field(ge=1, le=3)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class JudgedQuery(BaseModel):
    """A query and what a good search does with it; docs/evaluating.md is the reference of the fields.

    `relevant` has the grade (1 to 3) of everything that deserves one; empty: a good search finds nothing. It may be left out
    beside `expect`, what a right answer says. `earlier` are the questions of the same conversation before this one.

    Every result breaks a demand that does not meet `must`, is among `forbidden` or, with `hard`, is not relevant. Where `must`
    names no status, startups are demanded, unless companies of `any_status` count.

    `user` asks, with these `claims` beside, where what is found depends on who does.

    `types` are the kinds of record that were asked for; an answer states `number`, and says that the data does not tell where
    the question is not `answerable`. `answer_mentions` are facts that a right answer tells. What else a line holds is kept in
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

    def asked_by(self, otherwise: Caller) -> Caller:
        """Who asks: `otherwise`, where the query does not say."""
        if self.user is None and not self.claims:
            return otherwise
        return Caller(self.user or otherwise.user_id, self.claims)

    @property
    def has_answer(self) -> bool:
        """Whether something in the data answers it."""
        return bool(self.relevant) or (self.expect is not None and not self.expect.unanswerable)

    @property
    def has_results(self) -> bool:
        """Whether a good search returns something."""
        return bool(self.relevant) or (self.expect is not None and bool(self.expect.ids or self.expect.relevant))

    @property
    def demands(self) -> Demands | None:
        """`must`, with the status that a query means which names none."""
        if self.must is None or self.must.status or self.any_status:
            return self.must
        return self.must.model_copy(update={"status": ["startup"]})


class JudgedFileError(QuarryError):
    """The file cannot be evaluated; `problems` says which lines are wrong."""

    status = 422
    title = "Not evaluated"

    def __init__(self, path: Path, problems: list[RowProblem]) -> None:
        self.problems = problems
        super().__init__(f"{path.name}: " + "; ".join(str(problem) for problem in problems))


def read_judged(path: Path, domains: Collection[str] | None = None) -> list[JudgedQuery]:
    """The judged queries of a file, in order; empty lines are left out.

    Raises JudgedFileError for lines that are wrong, share an id or name none of `domains` (None: any), and for a file without
    a query; OSError.
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
