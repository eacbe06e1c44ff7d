"""The costs of a stack per month from list prices: the table of docs/deploy.md, which `make docs` writes.

This is the only place for prices, measured resources of a search, and assumptions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, NamedTuple

from tools.rehearsal.template import read_template

HOURS = 730
SECONDS = HOURS * 3600
GB = 1e9
KIB = 1024

RATES = (0, 1, 10, 100)
"""Searches per second, around the clock, one column of the table each."""


class Price(NamedTuple):
    of: str
    dollars: float


# us-east-1, without free tiers, discounts for quantity, and taxes
LAMBDA_GB_SECOND = Price("Lambda, arm64, a GB-second", 0.0000133334)
LAMBDA_MILLION = Price("Lambda, a million invocations", 0.20)
API_MILLION = Price("API Gateway, REST, a million requests (the first 333 million)", 3.50)
LOG_GB = Price("CloudWatch Logs, a GB written", 0.50)
LOG_GB_STORED = Price("CloudWatch Logs, a GB kept for a month", 0.03)
METRIC = Price("CloudWatch, a custom metric, a month", 0.30)
ALARM = Price("CloudWatch, an alarm's metric, a month", 0.10)
TRACE_MILLION = Price("X-Ray, a million traces", 5.00)
SECRET = Price("Secrets Manager, a secret, a month", 0.40)
OUT_GB = Price("transfer to the internet, a GB", 0.09)
ENDPOINT_HOUR = Price("VPC endpoint of a service, in one zone, an hour", 0.01)
NAT_HOUR = Price("NAT gateway, an hour", 0.045)
ADDRESS_HOUR = Price("public IPv4 address, an hour", 0.005)
UNIT_HOUR = Price("Aurora Serverless v2, a unit, an hour", 0.12)
STORED_GB = Price("Aurora, a GB stored, a month", 0.10)
IO_MILLION = Price("Aurora, a million reads and writes of its storage", 0.20)
PROXY_HOUR = Price("RDS Proxy, a unit, an hour (at least 8 units)", 0.015)

# Measured over 10,000 rows, on one processor. The service's CPU includes the client's.
#   OPENBLAS_NUM_THREADS=1 make bench BENCH_ARGS="costs"
SERVICE_MS = 30
DATABASE_MS = 26
WAL_KIB = 4.5
ANSWER_KIB = 5.6

# Assumed.
WAITING = 2.0  # duration of a search, as a multiple of the CPU of both, since it also waits for the network
LOGGED_KIB = 3.0  # a search's line of API Gateway, Lambda's own three, ours, and its metrics
HEADERS_KIB = 1.0
OWN_METRICS = 27
FREE = 10  # CloudWatch does not bill an account's first ten alarm metrics and first ten custom metrics
DATABASE_GB = 10
UNIT_PROCESSORS = 0.25  # a unit is 2 GiB of memory, and Aurora instances have 8 GiB per processor
UNIT_BUSY = 0.5  # the share of a unit's processor that is used
UNITS_MIN = 0.5
IO_KIB = 4
AWAKE_MINUTES = 11  # minutes awake after each scheduled run on a paused cluster: the run, and ten idle minutes
RUNS_A_DAY = 2  # of `embed` and `cleanup`
SECRETS = 1


Templates = Mapping[str, Mapping[str, Any]]
"""The templates, by file name without extension."""


class Line(NamedTuple):
    of: str
    dollars: list[float]
    """Dollars per month, for each of RATES."""


def lines(templates: Templates) -> tuple[list[Line], list[Line]]:
    """The costs of a stack with your own database, and the additional costs of Aurora and its network."""
    return [
        Line("Lambda", [rate * SECONDS * _invoking(templates["template"]) for rate in RATES]),
        Line("API Gateway", [_millions(rate) * API_MILLION.dollars for rate in RATES]),
        Line("logs", [_gb(rate, LOGGED_KIB) * (LOG_GB.dollars + LOG_GB_STORED.dollars) for rate in RATES]),
        Line("traces", [_millions(traces(rate)) * TRACE_MILLION.dollars for rate in RATES]),
        Line("alarms and metrics", [_watching(templates, rate) for rate in RATES]),
        Line("your database's secret", [SECRETS * SECRET.dollars] * len(RATES)),
        Line("transfer out", [_gb(rate, ANSWER_KIB + HEADERS_KIB) * OUT_GB.dollars for rate in RATES]),
    ], [
        Line("endpoint of Secrets Manager", [HOURS * ENDPOINT_HOUR.dollars] * len(RATES)),
        Line("Aurora's units", [units(rate) * HOURS * UNIT_HOUR.dollars or _waking() for rate in RATES]),
        Line("Aurora's storage", [DATABASE_GB * STORED_GB.dollars + _io(rate) for rate in RATES]),
        Line("serving and loading secrets", [_secrets(templates["data"]) * SECRET.dollars] * len(RATES)),
        Line(
            "database alarms",
            [_metrics_of_alarms(templates["monitoring"], of_database=True) * ALARM.dollars] * len(RATES),
        ),
    ]


def units(rate: float) -> float:
    """Aurora's capacity units, in steps of a half, for this many searches per second; 0 if it pauses."""
    processors = rate * DATABASE_MS / 1000
    return max(UNITS_MIN, math.ceil(2 * processors / UNIT_PROCESSORS / UNIT_BUSY) / 2) if rate else 0


def traces(rate: float) -> float:
    """Traces per second: X-Ray takes the first request of each second and one in twenty of the others."""
    return min(rate, 1) + 0.05 * max(0, rate - 1)


def billed_ms() -> float:
    """The billed duration of a search in its function."""
    return WAITING * (SERVICE_MS + DATABASE_MS)


def search_gb(template: Mapping[str, Any]) -> float:
    """The memory of the search function, as Lambda bills it."""
    return float(template["Parameters"]["SearchMemory"]["Default"]) / 1024


def _invoking(template: Mapping[str, Any]) -> float:
    return billed_ms() / 1000 * search_gb(template) * LAMBDA_GB_SECOND.dollars + LAMBDA_MILLION.dollars / 1e6


def _millions(rate: float) -> float:
    return rate * SECONDS / 1e6


def _gb(rate: float, kib: float) -> float:
    return rate * SECONDS * kib * KIB / GB


def _io(rate: float) -> float:
    return _millions(rate) * math.ceil(WAL_KIB / IO_KIB) * IO_MILLION.dollars


def _watching(templates: Templates, rate: float) -> float:
    """The alarms that always exist, by the metrics they watch, and our own metrics, which are billed if they have data."""
    watched = sum(_metrics_of_alarms(templates[name], of_database=False) for name in ("monitoring", "rollback"))
    own = max(0, OWN_METRICS - FREE) * METRIC.dollars if rate else 0
    return max(0, watched - FREE) * ALARM.dollars + own


def _metrics_of_alarms(template: Mapping[str, Any], *, of_database: bool) -> int:
    """How many metrics a template's alarms watch: those of a cluster, or the others."""
    alarms = (each for each in template["Resources"].values() if each["Type"] == "AWS::CloudWatch::Alarm")
    return sum(
        sum("MetricStat" in metric for metric in alarm["Properties"].get("Metrics", ())) or 1
        for alarm in alarms
        if ("Condition" in alarm) is of_database
    )


def _secrets(template: Mapping[str, Any]) -> int:
    """How many secrets the template creates besides the owner's, which corresponds to the one for your own database."""
    return sum(each["Type"] == "AWS::SecretsManager::Secret" for each in template["Resources"].values())


def _waking() -> float:
    return HOURS / 24 * RUNS_A_DAY * AWAKE_MINUTES / 60 * UNITS_MIN * UNIT_HOUR.dollars


def section() -> str:
    """The generated part of docs/deploy.md: costs per month, and what they are computed from."""
    templates = read_templates()
    own, aurora = lines(templates)
    rates = ["at rest", *(f"{rate} a second" for rate in RATES[1:])]
    of_own = _sum("**your own database**", own)
    costs = [
        *map(_row, own),
        _row(of_own, "**"),
        *map(_row, aurora),
        _row(_sum("**Aurora made by the stack**", [of_own, *aurora]), "**"),
    ]
    return f"""
| $ a month | {" | ".join(rates)} |
|{"---|" * (len(rates) + 1)}
{"".join(costs)}
{_inputs(search_gb(templates["template"]))}"""


def read_templates() -> Templates:
    """The deployed templates."""
    return {name: read_template(name) for name in ("template", "data", "monitoring", "rollback")}


def _inputs(gb: float) -> str:
    awake, proxy = HOURS * UNITS_MIN * UNIT_HOUR.dollars, HOURS * 8 * PROXY_HOUR.dollars
    nat, endpoint = HOURS * (NAT_HOUR.dollars + ADDRESS_HOUR.dollars), HOURS * ENDPOINT_HOUR.dollars
    points = [
        f"""**Measured** over 10,000 rows (`OPENBLAS_NUM_THREADS=1 make bench BENCH_ARGS="costs"`): a search takes
        {SERVICE_MS} ms of CPU in the service and {DATABASE_MS} in the database, writes {WAL_KIB} KiB of WAL and answers
        {ANSWER_KIB} KiB.""",
        f"""**Assumed**: AWS bills {WAITING:g} times the CPU of both, {billed_ms():.0f} ms of {gb:.2f} GB; {LOGGED_KIB:g} KiB of
        logs a search; {OWN_METRICS} custom metrics, {SECRETS} secret, {DATABASE_GB} GB of data. CloudWatch's first {FREE} alarm
        metrics and {FREE} custom metrics are free.""",
        f"""**Aurora's units** are {" / ".join(f"{units(rate):g}" for rate in RATES)}. A minimum of {UNITS_MIN:g}, which never
        pauses, costs {awake:.0f} a month. At rest Aurora pauses, except {AWAKE_MINUTES} minutes after each of {RUNS_A_DAY}
        scheduled runs a day. RDS Proxy costs {proxy:.0f} a month and keeps it awake.""",
        f"""**Network access** is an endpoint of Secrets Manager. `ModelProvider=bedrock` adds one of Bedrock,
        {endpoint:.2f} a month; `ModelProvider=openai` a NAT gateway with an address, {nat:.0f} a month and 0.045 for each GB.""",
        f"""**A question to a model** costs, in addition to a search, (tokens in × price in + tokens out × price out) / 1,000,000,
        and {gb * LAMBDA_GB_SECOND.dollars:.7f} for each second that it takes.""",
    ]
    return "".join(
        fill(" ".join(point.split()), 150, initial_indent="- ", subsequent_indent="  ") + "\n" for point in points
    )


def _sum(of: str, parts: Sequence[Line]) -> Line:
    return Line(of, [sum(column) for column in zip(*(part.dollars for part in parts), strict=True)])


def _row(line: Line, mark: str = "") -> str:
    return f"| {line.of} | " + " | ".join(f"{mark}{_dollars(each)}{mark}" for each in line.dollars) + " |\n"


def _dollars(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
