"""The table of an answer, for `quarry ask --format csv`: its numbers where it counts, else what it lists or cites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from quarry.campaigns import contract as campaigns
from quarry.companies import contract as companies
from quarry.local.telling import write_csv
from quarry.ontology import contract as ontology
from quarry.people import contract as people
from quarry.records import contract as records

Numbers = records.AggregationEvent | companies.Aggregation | campaigns.Aggregation


class AnswerTable:
    """Takes the events of an answer, of any domain."""

    def __init__(self) -> None:
        self._rows: Sequence[BaseModel] = ()
        self._numbers: Numbers | None = None

    def take(self, event: BaseModel) -> None:
        """Remember what the event lists, instead of what was listed before."""
        match event:
            case records.SourcesEvent():
                self._rows, self._numbers = event.sources, None
            case records.AggregationEvent():
                self._numbers = event
            case records.TextWithdrawnEvent():
                self._rows, self._numbers = (), None
            case companies.FinalAnswerEvent(data=answer):
                self._rows, self._numbers = answer.references, answer.aggregation
            case campaigns.FinalAnswerEvent(data=chat):
                self._rows, self._numbers = chat.campaigns, chat.aggregation
            case ontology.FinalAnswerEvent(data=found):
                self._rows = found.results
            case people.PeopleSearchResponse():
                self._rows = event.people

    def write(self) -> None:
        """Print the table on stdout; nothing where there is none."""
        rows = [each.model_dump(mode="json") for each in self._rows]
        if (
            (numbers := self._numbers) is not None
            and numbers.query is not None
            and not numbers.query.last.asks_for_rows
        ):
            rows = _rows_of(numbers)
        headings = [*dict.fromkeys(name for row in rows for name, value in row.items() if value not in (None, [], {}))]
        if headings:
            write_csv(headings, ([row.get(name) for name in headings] for row in rows))


def _rows_of(numbers: Numbers) -> list[dict[str, Any]]:
    """The groups, by the labels of their columns; a single row where there are none."""
    labels = {column.name: column.label for column in numbers.columns}
    if numbers.groups:
        by = getattr(numbers, "by", None) or next(iter(labels), "value")
        groups = [each.model_dump(mode="json") for each in numbers.groups]
        return [
            {labels.get(by, by): each["value"]}
            | {labels.get(name, name): each.get(name) for name in labels if name != by}
            for each in groups
        ]
    value = getattr(numbers, "value", None)
    name = getattr(numbers, "of", None) or "count"
    return [{labels.get(name, name): getattr(numbers, "total", None) if value is None else value}]
