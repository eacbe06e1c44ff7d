"""What readings of databases that nothing was fitted to are worth, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.reader.constraints import vetoes
from quarry.reader.learned import Learned
from quarry.reader.reading import known_of
from tools.fit.training import Judged

FIRST = (8, 16)


@dataclass(frozen=True)
class Verdicts:
    """One kind of questions. `points`: 1 for what is right without doubt, -10 for what is wrong without doubt."""

    asked: int
    right: int
    among: tuple[int, ...]
    without_doubt: int
    right_without_doubt: int

    @property
    def points(self) -> float:
        wrong = self.without_doubt - self.right_without_doubt
        return (self.right_without_doubt - 10 * wrong) / max(1, self.asked)


def verdicts(judged: Sequence[Judged], learned: Learned) -> Verdicts:
    """What the readings are worth."""
    sure = [each for each in judged if is_confident(each, learned)]
    return Verdicts(
        asked=len(judged),
        right=sum(each.is_first_right for each in judged),
        among=tuple(sum(any(each.right[:first]) for each in judged) for first in (*FIRST, None)),
        without_doubt=len(sure),
        right_without_doubt=sum(each.is_first_right for each in sure),
    )


def is_confident(judged: Judged, learned: Learned) -> bool:
    """Whether the first candidate is given without doubt."""
    first = judged.best
    if first is None or vetoes(judged.found.said, first.mask):
        return False
    return learned.chance(known_of(judged.found, judged.probabilities)) >= learned.thresholds_of(first.kind).confident


def table(judged: Sequence[Judged], learned: Learned) -> str:
    """The figures by kind of question and language, as Markdown."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        groups[each.pair.kind].append(each)
        groups[f"language {each.pair.language}"].append(each)
    groups["all"] = [*judged]
    head = "| questions | n | right | gold in first 8 / 16 / all | without doubt | right of these | points |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for name, of_kind in groups.items():
        worth = verdicts(of_kind, learned)
        among = " / ".join(_share(number, worth.asked) for number in worth.among)
        sure = _share(worth.without_doubt, worth.asked)
        right = _share(worth.right_without_doubt, worth.without_doubt)
        lines.append(
            f"| {name} | {worth.asked} | {_share(worth.right, worth.asked)} | {among} | {sure} | {right} | {worth.points:+.2f} |"
        )
    return "\n".join(lines)


def _share(number: int, of: int) -> str:
    return f"{number / of:.2f}" if of else "–"
