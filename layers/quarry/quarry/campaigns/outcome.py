"""What came of a question and of the searches for it."""

from __future__ import annotations

from dataclasses import dataclass

from quarry.campaigns.reading import CampaignQuestion
from quarry.campaigns.results import CampaignSet
from quarry.core.query.question import Clause, Missing
from quarry.core.retrieval.answers import Answer, Relaxation


@dataclass(frozen=True)
class Search:
    """One search that was made: the conditions that held, but for those of the page."""

    tool: str
    clauses: tuple[Clause, ...]
    found: CampaignSet


@dataclass(frozen=True)
class Outcome:
    """What was found for a question. `answer` is what all campaigns that meet `clauses` say to it, where more is asked than which
    they are. `is_by_words`: a theme was counted by the words of the copy, which is not the same; `is_beside_theme`: nothing comes
    near it, and these meet the conditions alone.

    `dropped` are conditions that were only inferred and left nothing; `relaxations` say how many campaigns there would be without
    each one, where there are none with all.
    """

    asked: CampaignQuestion
    found: CampaignSet
    clauses: tuple[Clause, ...] = ()
    answer: Answer | None = None
    is_by_words: bool = False
    is_beside_theme: bool = False
    dropped: tuple[Clause, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    unnamed: tuple[Missing, ...] = ()
    """Those of the names in the question that the data does not hold, and that left nothing."""
