"""What a question asks of a table: its answer's kind, its conditions, and what is left of it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from quarry.spans.mention import DateRange, MoneyRange, NumberRange
from quarry.spans.question import Ask, Clause, Condition, Question
from tests.query.tables import TABLES, asked

_CORPUS = Path(__file__).parent / "corpus"


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((_CORPUS / name).read_text(encoding="utf-8"))


ASKED = [(table, text, answer) for table, part in _load("asked.toml").items() for text, answer in part.items()]
QUESTIONS: list[dict[str, Any]] = _load("questions.toml")["question"]


def test_the_kind_of_answer_is_as_the_corpus_says() -> None:
    def kind(table: str, text: str) -> str:
        question = asked(text, TABLES[table])
        return ask_in_words(question.ask) + (" ?" if question.unanswerable else "")

    assert [(table, text, kind(table, text)) for table, text, _ in ASKED] == ASKED


def test_questions_are_as_the_corpus_says() -> None:
    for case in QUESTIONS:
        question = asked(case["text"], TABLES[case["table"]], case.get("earlier", ()))
        assert in_words(question) == said_of(case), (*case.get("earlier", ()), case["text"])


def said_of(case: dict[str, Any]) -> dict[str, Any]:
    """What the corpus says of a question."""
    return {
        "ask": case.get("ask", "rows"),
        "clauses": sorted(case.get("clauses", ())),
        "preferred": case.get("preferred", []),
        "topic": case.get("topic", ""),
        "phrases": case.get("phrases", []),
        "excluded": case.get("excluded", []),
        "missing": case.get("missing", []),
        "unanswerable": case.get("unanswerable", []),
        "references": case.get("references", []),
    }


def in_words(question: Question) -> dict[str, Any]:
    return {
        "ask": ask_in_words(question.ask),
        "clauses": sorted(clause_in_words(clause) for clause in question.clauses),
        "preferred": [condition_in_words(condition) for condition in question.preferred],
        "topic": question.topic,
        "phrases": list(question.phrases),
        "excluded": list(question.excluded_words),
        "missing": [missing.text for missing in question.missing],
        "unanswerable": [missing.text for missing in question.unanswerable],
        "references": list(question.references),
    }


def ask_in_words(ask: Ask) -> str:
    facet = f" {ask.facet}" if ask.facet else ""
    grain = f"/{ask.grain}" if ask.grain else ""
    limit = f", {ask.limit}" if ask.limit else ""
    return f"{ask.kind}{facet}{grain}{' ascending' if ask.ascending else ''}{limit}"


def clause_in_words(clause: Clause) -> str:
    return " or ".join(condition_in_words(condition) for condition in clause)


def condition_in_words(condition: Condition) -> str:
    values = " | ".join(condition.values) or _range_in_words(condition.range)
    return f"{condition.facet}: {'not ' if condition.is_negated else ''}{values}"


def _range_in_words(span: DateRange | NumberRange | MoneyRange | None) -> str:
    if isinstance(span, DateRange):
        months = f" months {span.months}" if span.months else ""
        return f"{span.first or ''}..{span.last or ''}{months}"
    if span is None:
        return ""
    least = "" if span.least is None else f"{span.least:g}"
    most = "" if span.most is None else f"{span.most:g}"
    if isinstance(span, NumberRange):
        least += "<" if least and not span.includes_least else ""
        most = ("<" if most and not span.includes_most else "") + most
    return f"{least}..{most}"
