"""Alarms and metric filters of the templates, evaluated on made-up samples as CloudWatch does."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Samples = Sequence[Sequence[float]]
"""Of each period, oldest first; a period without samples has no datapoint."""

_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Sum": sum,
    "Maximum": max,
    "Average": lambda samples: sum(samples) / len(samples),
}
_COMPARISONS = {"GreaterThanThreshold": operator.gt, "GreaterThanOrEqualToThreshold": operator.ge}
_CONDITION = re.compile(r'\(\$\.(\w+) (!=|=) "([^"]*)"\)')


def is_in_alarm(alarm: Mapping[str, Any], samples: Mapping[str, Samples]) -> bool:
    """Whether the alarm goes off after the samples of its metrics, by their ids; a single metric has the id `only`."""
    periods = max(map(len, samples.values()), default=0)
    assert alarm["TreatMissingData"] == "notBreaching"
    compare = _COMPARISONS[alarm["ComparisonOperator"]]
    breaching = [
        (value := _value(alarm, {name: each[period] for name, each in samples.items() if period < len(each)}))
        is not None
        and compare(value, float(alarm["Threshold"]))
        for period in range(periods)
    ]
    needed = alarm["EvaluationPeriods"]
    return len(breaching) >= needed and all(breaching[-needed:])


def _value(alarm: Mapping[str, Any], samples: Mapping[str, Sequence[float]]) -> float | None:
    """The datapoint of one period, None without one."""
    if "Metrics" not in alarm:
        return _statistic(alarm.get("Statistic") or alarm["ExtendedStatistic"], samples["only"])
    stats = {each["Id"]: each["MetricStat"]["Stat"] for each in alarm["Metrics"] if "MetricStat" in each}
    assert samples.keys() <= stats.keys()
    points = {name: _statistic(stat, samples.get(name, ())) for name, stat in stats.items()}
    known = {name: point for name, point in points.items() if point is not None}
    [expression] = [each["Expression"] for each in alarm["Metrics"] if each["ReturnData"]]
    functions: dict[str, Any] = {
        "SUM": sum,
        "MAX": max,
        "METRICS": lambda: list(known.values()),
    }
    try:
        return float(eval(_lazy(expression), {"__builtins__": {}}, functions | known))
    except NameError:  # a metric without a datapoint
        return None


def _lazy(expression: str) -> str:
    """IF(condition, yes, no) in Python's own words, which divides only where it holds."""
    return re.sub(r"^IF\((.+), (.+), (.+)\)$", r"(\2) if \1 else (\3)", expression)


def _statistic(name: str, samples: Sequence[float]) -> float | None:
    if not samples:
        return None
    if name.startswith("p"):
        return sorted(samples)[math.ceil(len(samples) * float(name[1:]) / 100) - 1]
    return _STATISTICS[name](samples)


def passes(pattern: str, line: Mapping[str, str]) -> bool:
    """Whether a line of JSON matches a filter that joins conditions on texts."""
    conditions = _CONDITION.findall(pattern)
    assert len(conditions) == pattern.count("$.")
    return all(fnmatchcase(line[name], wanted) is (sign == "=") for name, sign, wanted in conditions)
