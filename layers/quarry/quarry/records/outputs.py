"""What a model must return in the steps of answering from records."""

from __future__ import annotations

from pydantic import Field

from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import CleanText


class FollowupQuestions(LazyModel):
    """Questions that a reader of the answer is likely to ask next."""

    questions: list[CleanText] = Field(
        description="Two or three short questions, each answerable from the same records."
    )
