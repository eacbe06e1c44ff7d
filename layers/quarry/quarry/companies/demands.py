"""What a question says of count, status, funding, age and size: found by pattern, and cut out of the text.

Pure. Each reader takes the text and gives what it found with the text that is left.
"""

from __future__ import annotations

import re

from quarry.companies.constraints import Range
from quarry.companies.contract import FUNDING_STAGES, FundingStage, Status

COUNT_MAX = 20

_COMPANIES = r"(?:compan(?:y|ies)|start-?ups?|firms?|ones|businesses|ventures|players|vendors|providers|options|names|results|of (?:them|these|those))"
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "fifteen": 15, "twenty": 20, "a couple of": 2, "a few": 3, "a handful of": 5,
}  # fmt: skip
_NUMBER = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
_COUNTS = (
    re.compile(rf"\b(?:the )?(?:top|best|first|leading) {_NUMBER}\b", re.IGNORECASE),
    re.compile(rf"\b(?:show|list|name|give|find|get|suggest|recommend|want|need)(?: me| us)? (?:only |just |the )?{_NUMBER}\b(?! (?:employees|people|staff|years?))", re.IGNORECASE),
    re.compile(rf"^{_NUMBER} (?=(?:[\w&'-]+ ){{0,4}}{_COMPANIES}\b)", re.IGNORECASE),
)  # fmt: skip

_STATUS_PATTERNS: tuple[tuple[Status, re.Pattern[str]], ...] = (
    (
        "acquired",
        re.compile(
            r"\b(?:(?:that |which |who |have |has |had |were |was |got |been |already |since |ones? )*(?:acquired|bought (?:up|out)|been bought|taken over)"
            r"(?! (?:by|through|via) (?:customers|users|people))|exited|sold to another company)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "public",
        re.compile(
            r"\b(?:(?:that |which |who |are |is |have |has |been )*(?:publicly (?:traded|listed|held)|(?:stock[- ](?:market|exchange)[- ])?listed(?: on (?:the|a) [\w ]*(?:exchange|market))?"
            rf"|went public|gone public|ipo(?:ed|s)?|on the stock (?:market|exchange))|public(?= {_COMPANIES}))(?!\w)",
            re.IGNORECASE,
        ),
    ),
    (
        "closed",
        re.compile(
            r"\b(?:(?:that |which |who |have |has |had |were |was |are |is |been |already |since |ones? )*(?:shut(?:ter(?:ed)?)?(?: down)?|closed(?:[- ]down)?(?![- ](?:loop|circuit|system|captions?))"
            r"|went (?:out of business|bust|under|bankrupt)|gone (?:out of business|bust|under|bankrupt)|out of business|defunct|bankrupt|wound up|ceased trading)"
            rf"|(?:dead|failed)(?= {_COMPANIES})|(?:that|which|who)(?: have| has)? (?:failed|died|folded))(?!\w)",
            re.IGNORECASE,
        ),
    ),
    (
        "startup",
        re.compile(r"\b(?:(?:that |which |are |is )*(?:still (?:running|active|going|independent|private|in business|operating)|active(?= (?:compan|start|firm)))|independent(?= (?:compan|start|firm)))\b", re.IGNORECASE),
    ),
)  # fmt: skip
_ANY_STATUS = re.compile(
    r"\b(?:(?:of |in |with )?(?:any|every|whatever) status|whatever (?:became|happened)[\w ]*|dead or alive|past and present)\b",
    re.IGNORECASE,
)
_BESIDES = re.compile(
    r"\b(?:also|including|include|even|as well as|too|plus|or (?:that|those|ones)|whether)\b", re.IGNORECASE
)

_STAGES: tuple[tuple[str, FundingStage], ...] = (
    (r"boot-?strapped|self[- ]funded|without (?:outside |venture )?(?:funding|investors)", "bootstrapped"),
    (r"pre-?\s?seed(?:[- ](?:stage|funded|round|funding))?", "pre_seed"),
    (
        rf"(?<!pre-)(?<!pre )seed(?:[- ](?:stage|funded|round|funding)|(?= (?:[\w&-]+ )?{_COMPANIES}))|(?<=at )seed\b",
        "seed",
    ),
    (r"series[- ]a(?:[- ](?:stage|funded|round|funding))?", "series_a"),
    (r"series[- ]b(?:[- ](?:stage|funded|round|funding))?", "series_b"),
    (r"series[- ]c(?:[- ](?:stage|funded|round|funding))?", "series_c"),
    (r"growth[- ](?:stage|round|funded|funding)", "growth"),
)
_OR_LATER = r"(?P<later> (?:or|and) (?:later|above|beyond|up|more|higher))?"
_OR_EARLIER = r"(?P<earlier> (?:or|and) (?:earlier|below|before|less|lower))?"
_STAGE_PATTERNS = tuple(
    (re.compile(rf"\b(?:{pattern}){_OR_LATER}{_OR_EARLIER}(?!\w)", re.IGNORECASE), stage) for pattern, stage in _STAGES
)

_YEAR = r"((?:19|20)\d\d)"
_FOUNDED = r"(?:(?:that |which |were |was )*(?:founded|started|launched|established|formed|created|incorporated|set up)(?: only)? )"
_FOUNDED_RANGES: tuple[tuple[re.Pattern[str], int, int | None, int | None], ...] = tuple(
    (re.compile(rf"\b{pattern}(?!\w)", re.IGNORECASE), groups, least, most)
    for pattern, groups, least, most in (
        (rf"{_FOUNDED}?(?:between|from) {_YEAR} (?:and|to|until|–|-) {_YEAR}", 2, 0, 0),
        (rf"{_FOUNDED}?(?:in )?{_YEAR} or (?:later|after|newer)", 1, 0, None),
        (rf"{_FOUNDED}?(?:in )?{_YEAR} or (?:earlier|before|older)", 1, None, 0),
        (rf"{_FOUNDED}?(?:since|from) {_YEAR}(?: on(?:wards?)?)?", 1, 0, None),
        (rf"{_FOUNDED}?(?:after|later than) {_YEAR}", 1, 1, None),
        (rf"(?:newer|younger) than {_YEAR}", 1, 1, None),
        (rf"{_FOUNDED}?(?:before|earlier than) {_YEAR}", 1, None, -1),
        (rf"older than {_YEAR}", 1, None, -1),
        (rf"{_FOUNDED}in {_YEAR}", 1, 0, 0),
    )
)

_AMOUNT = r"\$?\s?(\d[\d,.]*)\s?(k|thousand|m|mn|million|b|bn|billion)?"
_MORE = r"(?:more than|over|above|at least|upwards of|a minimum of|>=?)"
_LESS = r"(?:fewer than|less than|under|below|at most|up to|no more than|a maximum of|<=?)"
_STAFF = r"(?:employees|people|staff|workers|person|members of staff|heads)"
_WITH = r"(?:(?:with|have|has|having|that have|employing|employs?|that employ) )?"
_EMPLOYEES = (
    (re.compile(rf"\b{_WITH}(?P<word>{_MORE}) {_AMOUNT} {_STAFF}\b", re.IGNORECASE), True),
    (re.compile(rf"\b{_WITH}(?P<word>{_LESS}) {_AMOUNT} {_STAFF}\b", re.IGNORECASE), False),
    (re.compile(rf"\b{_WITH}(?P<word>){_AMOUNT}\+ {_STAFF}\b", re.IGNORECASE), True),
)
_RAISED_VERB = r"(?:(?:that |which |who |have |has |had )*(?:raised|raising)|with(?: funding of)?|funded with)"
_RAISED = (
    (re.compile(rf"\b{_RAISED_VERB} (?P<word>{_MORE}) {_AMOUNT}(?: (?:dollars|in funding|of funding|raised|in total))*(?![\w%])", re.IGNORECASE), True),
    (re.compile(rf"\b{_RAISED_VERB} (?P<word>{_LESS}) {_AMOUNT}(?: (?:dollars|in funding|of funding|raised|in total))*(?![\w%])", re.IGNORECASE), False),
)  # fmt: skip
_EXCLUSIVE = re.compile(r"^(?:more than|over|above|fewer than|less than|under|below|[<>])$", re.IGNORECASE)
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
            besides = besides or bool(
                _BESIDES.search(left[: found.start()]) or re.match(r"[ \w]* too\b", left[found.end() :])
            )
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
    for pattern, groups, least, most in _FOUNDED_RANGES:
        match = pattern.search(text)
        if match:
            first, last = int(match[1]), int(match[groups])
            years = Range(None if least is None else first + least, None if most is None else last + most)
            return years, _without(text, match.span())
    return Range(), text


def read_employees(text: str) -> tuple[Range, str]:
    """The number of employees that is asked for."""
    return _read_amounts(text, _EMPLOYEES, least_amount=0)


def read_raised(text: str) -> tuple[Range, str]:
    """The money raised that is asked for, in US dollars."""
    return _read_amounts(text, _RAISED, least_amount=_MONEY_MIN)


def _read_amounts(
    text: str, patterns: tuple[tuple[re.Pattern[str], bool], ...], *, least_amount: int
) -> tuple[Range, str]:
    amounts, left = Range(), text
    for pattern, is_least in patterns:
        match = pattern.search(left)
        value = _value(match) if match else None
        if match is None or value is None or value < least_amount:
            continue
        step = 1 if _EXCLUSIVE.match(match["word"]) else 0
        amounts = Range(value + step, amounts.most) if is_least else Range(amounts.least, value - step)
        left = _without(left, match.span())
    return amounts, left


def _value(match: re.Match[str]) -> int | None:
    number, factor = match[2], match[3]
    try:
        return round(float(number.replace(",", "").rstrip(".")) * _FACTORS.get((factor or "").lower(), 1))
    except (ValueError, OverflowError):
        return None


def _without(text: str, span: tuple[int, int]) -> str:
    return " ".join(f"{text[: span[0]]} {text[span[1] :]}".split())
