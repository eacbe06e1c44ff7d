"""What tokens of the chat model cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from quarry.models.interface import Usage
from quarry.platform.settings import Settings


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens read and written, as the settings have them; None where they do not."""

    prompt: float | None = None
    completion: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.model_prompt_price, settings.model_completion_price)

    def cost(self, usage: Usage) -> float | None:
        """What tokens cost, in US dollars; None where a price is not known."""
        if self.prompt is None or self.completion is None:
            return None
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6
