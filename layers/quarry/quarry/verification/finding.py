"""What a check found wrong with a statement. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Finding:
    """`wrong` contradicts the evidence or is not in it, `weak` is neither borne out nor contradicted; both as reasons in words.
    `is_denied`: the evidence says the opposite, which counts also where another source says so.
    """

    wrong: list[str] = field(default_factory=list)
    weak: list[str] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, int, int]:
        """The lower, the better does the evidence fit."""
        return (bool(self.wrong or self.denied), len(self.wrong) + len(self.denied), len(self.weak))

    @property
    def is_clean(self) -> bool:
        """Whether the evidence bears it out."""
        return not (self.wrong or self.weak or self.denied)

    def add(self, other: Finding) -> None:
        self.wrong += other.wrong
        self.weak += other.weak
        self.denied += other.denied
