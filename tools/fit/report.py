"""How good readings of databases not used for fitting are, as a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.reader.learned import Calibration
from tools.fit.calibration import Seen

FIRST = (8, 16)


@dataclass(frozen=True)
class Verdicts:
    """One kind of questions. `points`: 1 for each right confident answer, -10 for each wrong confident one."""

    asked: int
    right: int
    among: tuple[int, ...]
    without_doubt: int
    right_without_doubt: int

    @property
    def points(self) -> float:
        wrong = self.without_doubt - self.right_without_doubt
        return (self.right_without_doubt - 10 * wrong) / max(1, self.asked)


def verdicts(seen: Sequence[Seen], calibration: Calibration) -> Verdicts:
    """The verdicts on the readings."""
    sure = [each for each in seen if is_confident(each, calibration)]
    return Verdicts(
        asked=len(seen),
        right=sum(each.is_right for each in seen),
        among=tuple(sum(any(each.right[:first]) for each in seen) for first in (*FIRST, None)),
        without_doubt=len(sure),
        right_without_doubt=sum(each.is_right for each in sure),
    )


def is_confident(seen: Seen, calibration: Calibration) -> bool:
    """Whether the first candidate is given with confidence."""
    if not seen.known or seen.known.get("vetoed"):
        return False
    return calibration.chance(seen.known) >= calibration.thresholds_of(seen.kind).confident


def table(seen: Sequence[Seen], calibration: Calibration) -> str:
    """The figures by kind of question, kind of answer and language, as Markdown."""
    groups: dict[str, list[Seen]] = defaultdict(list)
    for each in seen:
        groups[each.question].append(each)
        groups[f"answer {each.kind or 'none'}"].append(each)
        groups[f"language {each.language}"].append(each)
    groups["all"] = [*seen]
    head = "| questions | n | right | gold in first 8 / 16 / all | without doubt | right of these | points |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for name, of_kind in groups.items():
        worth = verdicts(of_kind, calibration)
        among = " / ".join(_share(number, worth.asked) for number in worth.among)
        sure = _share(worth.without_doubt, worth.asked)
        right = _share(worth.right_without_doubt, worth.without_doubt)
        lines.append(
            f"| {name} | {worth.asked} | {_share(worth.right, worth.asked)} | {among} | {sure} | {right} | {worth.points:+.2f} |"
        )
    return "\n".join(lines)


def _share(number: int, of: int) -> str:
    return f"{number / of:.2f}" if of else "–"
