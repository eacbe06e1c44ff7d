"""Answers with what they were written from, true ones and copies with one false change, and what a check makes of them."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quarry.query.contract import QueryResult, ResultColumn
from quarry.schema.algebra import Cell, Query
from quarry.verification.check import Verification, Verifier, level
from quarry.verification.wire import SourceText

SETS = Path(__file__).parent / "sets"
TODAY = datetime.date(2026, 11, 28)


def verify(
    answer: str,
    sources: Sequence[SourceText] = (),
    results: Sequence[QueryResult] = (),
    *,
    question: str = "",
    today: datetime.date | None = None,
    own: Sequence[str] = (),
) -> Verification:
    """The check of a whole answer."""
    return Verifier(sources, results, question=question, today=today, own=own).verify(answer)


def result(
    columns: Sequence[tuple[str, str, str, str]], rows: Sequence[Sequence[Cell]], total: int = 0, sentence: str = ""
) -> QueryResult:
    """A result with these columns: name, label, kind and unit."""
    return QueryResult(
        query=Query(source="rows"),
        sentence=sentence,
        columns=[
            ResultColumn(name=name, label=label, kind=kind, unit=unit or None) for name, label, kind, unit in columns
        ],
        rows=[[None if cell == "" else cell for cell in row] for row in rows],
        total=total or len(rows),
        truncated=False,
        filters=[],
    )


@dataclass(frozen=True)
class Given:
    """An answer. `false` is where it was changed; None of a true one."""

    text: str
    kind: str
    question: str
    sources: Sequence[SourceText]
    results: Sequence[QueryResult]
    false: tuple[int, int] | None = None

    def verified(self) -> Verification:
        verifier = Verifier(self.sources, self.results, question=self.question, today=TODAY)
        return verifier.verify(self.text)


def answers(name: str) -> Iterator[Given]:
    """The answers of a set."""
    for case in tomllib.loads((SETS / f"{name}.toml").read_text("utf-8"))["case"]:
        sources = [SourceText(n, **each) for n, each in enumerate(case.get("source", []), start=1)]
        results = [
            result(each["columns"], each["rows"], each["total"], each["sentence"]) for each in case.get("result", [])
        ]
        for each in case["answer"]:
            text = each["text"].strip()
            yield Given(text, "true", case["question"], sources, results)
            for old, new, kind in each["false"]:
                at = text.index(old)
                changed = text.replace(old, new, 1)
                yield Given(changed, kind, case["question"], sources, results, _changed(at, old, new))


def _changed(at: int, old: str, new: str) -> tuple[int, int]:
    """The part that differs."""
    least = min(len(old), len(new))
    first = next((place for place in range(least) if old[place] != new[place]), least)
    last = next((place for place in range(least - first) if old[-1 - place] != new[-1 - place]), least - first)
    return at + first, max(at + len(new) - last, at + first + 1)


def figures(name: str) -> dict[str, Any]:
    """The shares that say how far a set's answers are judged right."""
    seen = [(each, each.verified()) for each in answers(name)]
    true = [found for each, found in seen if each.false is None]
    false = [(each, found) for each, found in seen if each.false is not None]
    levels = [getattr(level(found), "level", None) for found in true]
    wrong = [getattr(level(found), "level", None) for _, found in false]
    hits = [
        any(each.state == "flagged" and each.start < span[1] and span[0] < each.end for each in found.statements)
        for given, found in false
        if (span := given.false)
    ]
    claims = [each.state for found in true for each in found.claims]
    cited = [each.verified for found in true for each in found.citations]
    high, wrongly = levels.count("high") / len(levels), wrong.count("high") / len(wrong)
    return {
        "true answers": len(true),
        "false answers": len(false),
        "false statements flagged": sum(hits) / len(hits),
        "true statements flagged": claims.count("flagged") / len(claims),
        "false answers High": wrongly,
        "false answers High or Medium": 1 - wrong.count("low") / len(wrong),
        "true answers High": high,
        "High is right, at half true": high / (high + wrongly),
        "citations of true answers verified": sum(cited) / len(cited),
    }


if __name__ == "__main__":
    for each in sorted(path.stem for path in SETS.glob("*.toml")):
        print(each, *(f"  {name}: {value:.3f}" for name, value in figures(each).items()), sep="\n")
