"""What a question says of count, status, funding, age and size: found by pattern, and cut out of the text.

Pure. Each reader takes the text and gives what it found with the text that is left.
"""

from __future__ import annotations

import re

from quarry.companies.constraints import Range
from quarry.companies.contract import FUNDING_STAGES, FundingStage, Status

COUNT_MAX = 20


def _any(*alternatives: str) -> str:
    return f"(?:{'|'.join(alternatives)})"


def _pattern(*parts: str) -> re.Pattern[str]:
    """The parts one after another, as whole words, whatever their case."""
    return re.compile(rf"(?<!\w){''.join(parts)}(?!\w)", re.IGNORECASE)


_COMPANIES = _any(
    "compan(?:y|ies)", "start-?ups?", "firms?", "ones", "businesses", "ventures", "players", "vendors", "providers",
    "options", "names", "results", "of (?:them|these|those)",
)  # fmt: skip
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "a couple of": 2, "a few": 3, "a handful of": 5,
}  # fmt: skip
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
_ASKED = _any("show", "list", "name", "give", "find", "get", "suggest", "recommend", "want", "need")
_NOT_COMPANIES = r"(?! (?:employees|people|staff|years?)\b)"
_COUNTS = (
    _pattern("(?:the )?(?:top|best|first|leading) ", _NUMBER),
    _pattern(_ASKED, "(?: me| us)? (?:only |just |the )?", _NUMBER, _NOT_COMPANIES),
    re.compile(rf"^{_NUMBER} (?=(?:[\w&'-]+ ){{0,4}}{_COMPANIES}\b)", re.IGNORECASE),
)

_WHO = r"(?:(?:that|which|who|have|has|had|was|were|is|are|got|been|already|since|now|ones?) ){0,4}"
_GONE = _any("out of business", "bust", "under", "bankrupt")
_STATUS_PATTERNS: tuple[tuple[Status, re.Pattern[str]], ...] = (
    (
        "acquired",
        _pattern(
            _WHO,
            _any("acquired", "bought (?:up|out)", "been bought", "taken over", "exited", "sold to another company"),
            r"(?! (?:by|through|via) (?:customers|users|people)\b)",
        ),
    ),
    (
        "public",
        _pattern(
            _WHO,
            _any(
                "publicly (?:traded|listed|held)",
                "(?:stock[- ](?:market|exchange)[- ])?listed(?: on (?:the|a) (?:[a-z]+ )?(?:exchange|market))?",
                "(?:went|gone) public",
                "ipo(?:ed|s)?",
                "on the stock (?:market|exchange)",
                f"public(?= {_COMPANIES})",
            ),
        ),
    ),
    (
        "closed",
        _pattern(
            _WHO,
            _any(
                "shut(?:tered)?(?: down)?",
                "closed(?:[- ]down)?(?![- ](?:loop|circuit|system|captions?))",
                f"(?:went|gone) {_GONE}",
                "out of business",
                "defunct",
                "bankrupt",
                "wound up",
                "ceased trading",
                f"(?:dead|failed)(?= {_COMPANIES})",
                "(?<=that |have |.has |.who )(?:failed|died|folded)",
            ),
        ),
    ),
    (
        "startup",
        _pattern(
            _WHO,
            _any(
                "still (?:running|active|going|independent|private|in business|operating)",
                f"(?:active|independent)(?= {_COMPANIES})",
            ),
        ),
    ),
)
_ANY_STATUS = _pattern(_any("(?:of |in |with )?(?:any|every|whatever) status", "dead or alive", "past and present"))
_BESIDES = _pattern(_any("also", "including", "include", "even", "as well as", "too", "plus", "or (?:that|those|ones)"))
_TOO = re.compile(r"[ \w]* (?:too|as well)\b", re.IGNORECASE)

_ROUND = "(?:[- ](?:stage|funded|round|funding))"
_STAGES: tuple[tuple[str, FundingStage], ...] = (
    (
        _any("boot-?strapped", "self[- ]funded", "without (?:outside |venture )?(?:funding|investors)"),
        "bootstrapped",
    ),
    (rf"pre-?\s?seed{_ROUND}?", "pre_seed"),
    (rf"(?<!pre[- ])(?:seed{_ROUND}|seed(?= (?:[\w&-]+ )?{_COMPANIES})|(?<=at )seed)", "seed"),
    (rf"series[- ]a{_ROUND}?", "series_a"),
    (rf"series[- ]b{_ROUND}?", "series_b"),
    (rf"series[- ]c{_ROUND}?", "series_c"),
    (rf"growth{_ROUND}", "growth"),
)
_AND_MORE = "(?P<later> (?:or|and) (?:later|above|beyond|up|more|higher))?"
_AND_LESS = "(?P<earlier> (?:or|and) (?:earlier|below|before|less|lower))?"
_STAGE_PATTERNS = tuple((_pattern(pattern, _AND_MORE, _AND_LESS), stage) for pattern, stage in _STAGES)

_YEAR = r"((?:19|20)\d\d)"
_FOUNDED = rf"(?:{_WHO}(?:founded|started|launched|established|formed|created|incorporated|set up)(?: only)? )"
# What is added to the first year named for the least one, and to the last one named for the most; None is open.
_FOUNDED_RANGES: tuple[tuple[re.Pattern[str], int | None, int | None], ...] = (
    (_pattern(f"{_FOUNDED}?(?:between|from) {_YEAR} (?:and|to|until|–|-) {_YEAR}"), 0, 0),
    (_pattern(f"{_FOUNDED}?(?:in )?{_YEAR} or (?:later|after|newer)"), 0, None),
    (_pattern(f"{_FOUNDED}?(?:in )?{_YEAR} or (?:earlier|before|older)"), None, 0),
    (_pattern(f"{_FOUNDED}?(?:since|from) {_YEAR}(?: on(?:wards?)?)?"), 0, None),
    (_pattern(f"(?:{_FOUNDED}?(?:after|later than)|newer than|younger than) {_YEAR}"), 1, None),
    (_pattern(f"(?:{_FOUNDED}?(?:before|earlier than)|older than) {_YEAR}"), None, -1),
    (_pattern(f"{_FOUNDED}in {_YEAR}"), 0, 0),
)

_AMOUNT = r"\$?\s?(\d[\d,.]{0,20}+)\s?(k|thousand|m|mn|million|b|bn|billion)?"
_MORE = "(?P<word>more than|over|above|at least|upwards of|a minimum of|>=?)"
_LESS = "(?P<word>fewer than|less than|under|below|at most|up to|no more than|not more than|a maximum of|<=?)"
_STAFF = _any("employees", "people", "staff", "workers", "person", "members of staff", "heads")
_WITH = f"(?:{_WHO}{_any('with', 'have', 'has', 'having', 'employing', 'employs?')} )?"
_EMPLOYEES = (
    (_pattern(_WITH, _LESS, " ", _AMOUNT, " ", _STAFF), False),
    (_pattern(_WITH, _MORE, " ", _AMOUNT, " ", _STAFF), True),
    (_pattern(_WITH, "(?P<word>)", _AMOUNT, r"\+ ", _STAFF), True),
)
_RAISED_VERB = _any(f"{_WHO}(?:raised|raising)", "with(?: funding of)?", "funded with")
_IN_ALL = "(?: (?:dollars|in funding|of funding|raised|in total))*(?!%)"
_RAISED = (
    (_pattern(_RAISED_VERB, " ", _LESS, " ", _AMOUNT, _IN_ALL), False),
    (_pattern(_RAISED_VERB, " ", _MORE, " ", _AMOUNT, _IN_ALL), True),
)
_EXCLUSIVE = frozenset({"more than", "over", "above", "fewer than", "less than", "under", "below", ">", "<"})
_FACTORS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9}
_MONEY_MIN = 10_000
"""A smaller amount is not what a company raised."""


def read_count(text: str) -> tuple[int | None, str]:
    """How many companies are wanted, from 1 to 20."""
    for pattern in _COUNTS:
        match = pattern.search(text)
        if match:
            written = match[1].lower()
            count = _NUMBERS.get(written) or int(written)
            return max(1, min(COUNT_MAX, count)), _without(text, match.span())
    return None, text


def read_statuses(text: str) -> tuple[tuple[Status, ...], str]:
    """The statuses that are asked for; none when the text names none. "Also closed ones" asks for startups too."""
    match = _ANY_STATUS.search(text)
    if match:
        return ("startup", "acquired", "public", "closed"), _without(text, match.span())
    named: list[Status] = []
    left = text
    besides = False
    for status, pattern in _STATUS_PATTERNS:
        found = pattern.search(left)
        if found:
            named.append(status)
            before, behind = left[: found.start()], left[found.end() :]
            besides = besides or bool(_BESIDES.search(before) or _TOO.match(behind))
            left = _without(left, found.span())
    if named and besides and "startup" not in named:
        named.insert(0, "startup")
    return tuple(named), left


def read_funding_stages(text: str) -> tuple[frozenset[FundingStage], str]:
    """The funding stages that are asked for; "Series A or later" means all that follow."""
    stages: set[FundingStage] = set()
    for pattern, stage in _STAGE_PATTERNS:
        match = pattern.search(text)
        if match:
            place = FUNDING_STAGES.index(stage)
            first = 1 if match["earlier"] else place
            stages.update(FUNDING_STAGES[first : len(FUNDING_STAGES) if match["later"] else place + 1])
            text = _without(text, match.span())
    return frozenset(stages), text


def read_founded(text: str) -> tuple[Range, str]:
    """The years of foundation that are asked for."""
    for pattern, least, most in _FOUNDED_RANGES:
        match = pattern.search(text)
        if match:
            first, last = int(match[1]), int(match[pattern.groups])
            years = Range(None if least is None else first + least, None if most is None else last + most)
            return years, _without(text, match.span())
    return Range(), text


def read_employees(text: str) -> tuple[Range, str]:
    """The number of employees that is asked for."""
    return _read_amounts(text, _EMPLOYEES, least_amount=0, exactly=True)


def read_raised(text: str) -> tuple[Range, str]:
    """The money raised that is asked for, in US dollars."""
    return _read_amounts(text, _RAISED, least_amount=_MONEY_MIN, exactly=False)


def _read_amounts(
    text: str, patterns: tuple[tuple[re.Pattern[str], bool], ...], *, least_amount: int, exactly: bool
) -> tuple[Range, str]:
    amounts, left = Range(), text
    for pattern, is_least in patterns:
        match = pattern.search(left)
        value = _value(match) if match else None
        if match is None or value is None or value < least_amount:
            continue
        step = 1 if exactly and match["word"].lower() in _EXCLUSIVE else 0
        amounts = Range(value + step, amounts.most) if is_least else Range(amounts.least, value - step)
        left = _without(left, match.span())
    return amounts, left


def _value(match: re.Match[str]) -> int | None:
    number, factor = match[match.re.groups - 1], match[match.re.groups]
    try:
        return round(float(number.replace(",", "").rstrip(".")) * _FACTORS.get((factor or "").lower(), 1))
    except (ValueError, OverflowError):
        return None


def _without(text: str, span: tuple[int, int]) -> str:
    return " ".join(f"{text[: span[0]]} {text[span[1] :]}".split())
