"""Judged queries: what a good search finds for them. A file holds one a line, as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from quarry.core.errors import QuarryError
from quarry.core.postgres.load import RowProblem
from quarry.core.text import CleanText, Identifier, QueryText

Grade = Annotated[int, Field(ge=1, le=3)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class JudgedQuery(BaseModel):
    """A query and the grade (1 to 3) of everything that deserves one; nothing relevant: a good search finds nothing.

    `kind` groups queries in a report. `earlier` are the questions of the same conversation before this one. `answer_mentions`
    are facts that a right answer tells. What else a line holds is kept in `model_extra`, for the tests of a domain.
    """

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    id: Identifier
    domain: Identifier
    kind: Identifier
    query: QueryText
    relevant: dict[Key, Grade]
    earlier: list[QueryText] = Field(default_factory=list, max_length=20)
    answer_mentions: list[CleanText] = Field(default_factory=list)


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
        yield RowProblem(line, field or "line", detail["msg"].removeprefix("Value error, "))
