"""What a column of numbers measures, by its name and by what it holds."""

from __future__ import annotations

import re

from quarry.collections.guessing import is_numbered, words
from quarry.collections.relations import Column
from quarry.language.tokens import stem
from quarry.language.word_forms import singular
from quarry.spans.quantities import MEASURED, dimension_of, names_currency, unit_named

QUANTITIES = frozenset(("quantity", "qty"))
"""What numbers are called that count what a row is of."""
TOTALS = frozenset(("total", "subtotal"))
"""What names a price that is paid for all of a row: it is an amount."""
ALREADY_SUMMED = TOTALS | {"sum"}
_AMOUNTS = frozenset(
    """price amount total subtotal cost fee salary wage pay revenue balance budget payment discount freight tax spend value
    deposit refund fare toll premium rent income earnings donation preis betrag kosten gebuhr miete gehalt lohn umsatz precio
    importe coste salario prix montant loyer salaire prezzo importo preco""".split()
)
_OF_MONEY = frozenset(
    stem(word)
    for word in """revenue turnover sales profit valuation valued worth capitalisation capitalization cap arr mrr gmv ebitda
    earnings income debt loss price cost budget salary payment donation expense refund deposit contribution fine fee charge
    payout spend spent pay paid earn earned invoice billed charged due net gross owed outstanding""".split()
)
"""The stems of what amounts of money are called, and of what describes them in names."""
_WHOLE_NUMBERS = ("smallint", "integer", "bigint")
_NO_AMOUNTS = frozenset("rate percent percentage share ratio count method type".split())
"""Last words of what only has to do with money."""
_SIDE_AMOUNTS = frozenset(
    "freight shipping postage tax vat discount tip deposit balance budget refund cost fee salary wage pay".split()
)
"""Names of money that is not what something is paid with, or comes on top of a price."""
_HUNDREDTHS = frozenset("cents cent pence centimes ore".split())
_ALWAYS_HUNDREDTHS = _HUNDREDTHS - {"cent", "ore"}
"""Last words of numbers that count hundredths of a currency, and those that never are of anything else."""
_FLAGS = frozenset("active inactive visible public private available valid default flag".split())
_FLAG_FIRST = frozenset("is has can was".split())
_LENGTHS = (("length",), ("duration",))
_LASTING = frozenset(
    "film movie episode programme program show lesson lecture meeting session visit appointment".split()
)
MINUTES_LEAST, MINUTES_MOST = 20, 1500
"""The longest of what is measured in minutes is between these, seldom another."""
_IN_UNIT = re.compile(r"\b(?:in|unit:?|measured in)\s+([A-Za-z]+)", re.IGNORECASE)
_YEARS = frozenset("year jahr ano annee anno jaar".split())
_DATED_BY_YEAR = frozenset(
    """born birth died death built founded founding published publication released release established made created
    constructed discovered patented painted vintage geboren gestorben erbaut gebaut gegrundet erschienen entstanden
    nacido fundado publicado construido""".split()
)
"""What a whole number tells the year of that is called by nothing else."""
_RATES_OF = frozenset("day daily night nightly hour hourly week weekly month monthly".split())
"""What a rate is of that is paid by the time."""
RECENT_LEAST = 1500
"""From this year on, a participle that is not known as one that dates something tells of a year."""


YEAR_LEAST, YEAR_MOST = 1000, 2100
"""What is measured outside these is no year of anything that people keep tables of."""


def is_year(column: Column) -> bool:
    """Whether it is the number of a year: by its name or, where that only says what happened, by what it holds too."""
    if column.category != "N" or column.is_array:
        return False
    said = words(column.name)
    if any(_is_year(word) for word in (*said[-1:], *(said[:1] if {*said[1:]} <= _DATED_BY_YEAR else ()))):
        return column.least is None or column.most is None or _are_years(column.least, column.most)
    if len(said) != 1 or column.least is None or column.most is None or not _are_years(column.least, column.most):
        return False
    return said[0] in _DATED_BY_YEAR or (_is_participle(said[0]) and column.least >= RECENT_LEAST)


def _is_participle(word: str) -> bool:
    return word.endswith("ed") and len(word) > len("shed")


def _is_year(word: str) -> bool:
    """Whether a word is one for a year, or a German one that ends in it ("baujahr")."""
    return word in _YEARS or (word.endswith("jahr") and not word.startswith("halb"))


def _are_years(least: float, most: float) -> bool:
    return YEAR_LEAST <= least <= most <= YEAR_MOST


def is_number(column: Column) -> bool:
    """Whether it is a quantity, not a number that names something."""
    if column.category != "N" or column.is_array or column.base.startswith(("oid", "reg")):
        return False
    return not is_numbered(column) and words(column.name)[-1:] != ("by",)


def is_amount(column: Column) -> bool:
    """Whether it is an amount of money."""
    said = words(column.name)
    is_called_so = bool(_AMOUNTS & {*said}) and said[-1] not in _NO_AMOUNTS and not _counts_things(column)
    is_called_so = is_called_so or (len(said) > 1 and said[-1] in _ALWAYS_HUNDREDTHS)
    is_called_so = is_called_so or (
        "rate" in said and bool(_RATES_OF & {*said}) and {*said} <= _RATES_OF | {"rate", "per"}
    )
    if "discount" in said and (column.most is None or is_share(column)):
        # a part of the price, or an amount
        return False
    return is_number(column) and (column.base == "money" or is_called_so)


def _counts_things(column: Column) -> bool:
    """Whether it has an amount's word in its name, but counts or measures something else: `total_replies`, `votes_total`,
    `discount_uses`, `total_weight`. Things are counted in whole numbers.
    """
    said = words(column.name)
    of = [word for word in said if word not in ALREADY_SUMMED]
    is_total = len(of) < len(said)
    if not of or any(map(_is_of_money, of if is_total else of[-1:])):
        return False
    if is_total and (unit_named([column.name]) or of[-1] in MEASURED):
        return True
    is_of_many = singular(of[-1]) != of[-1]
    return column.base in _WHOLE_NUMBERS and (is_of_many or said[0] in ALREADY_SUMMED)


def _is_of_money(word: str) -> bool:
    """Whether the word names money, or describes nothing but money: fees, sales, paid."""
    one = singular(word)
    if {word, one} & (_AMOUNTS | _SIDE_AMOUNTS | _HUNDREDTHS) or names_currency(word):
        return True
    return not {stem(word), stem(one)}.isdisjoint(_OF_MONEY)


def in_hundredths(column: Column) -> bool:
    """Whether an amount of money is counted in hundredths of its currency, by its last word: `price_cents`, `priceCents`."""
    said = words(column.name)
    return is_amount(column) and len(said) > 1 and said[-1] in _HUNDREDTHS


def is_flag(column: Column) -> bool:
    """Whether it is a number that says yes or no: by its name, and by holding nothing but 0 and 1."""
    if column.category != "N" or column.is_array or column.least is None or column.most is None:
        return False
    said = words(column.name)
    is_called_so = bool(said) and (said[0] in _FLAG_FIRST or said[-1] in _FLAGS or _is_participle(said[-1]))
    return is_called_so and column.least >= 0 and column.most <= 1


def is_side_amount(column: Column) -> bool:
    """Whether it is money that comes on top of what is paid for: freight, tax."""
    return bool(_SIDE_AMOUNTS & {*words(column.name)})


def is_share(column: Column) -> bool:
    """Whether it is a part of one, as measured: a discount of 0.05."""
    return (
        is_number(column)
        and column.most is not None
        and column.least is not None
        and 0 <= column.least <= column.most <= 1
    )


def in_percent(column: Column) -> bool:
    """Whether it is a part of a hundred, by its name and as measured: a `discount_pct` of 5."""
    return (
        is_number(column)
        and words(column.name)[-1:] in (("percent",), ("percentage",))
        and column.least is not None
        and column.most is not None
        and column.least >= 0
        and 1 < column.most <= 100
    )


def unit_of(column: Column, table: str) -> tuple[str, bool] | None:
    """The unit that a number is measured in, where its name does not say so, and whether that is guessed: what its comment says,
    or, of how long what people watch or attend lasts, minutes.
    """
    if not is_number(column) or unit_named([column.name]):
        return None
    said = _IN_UNIT.search(column.comment or "")
    if said and dimension_of(said[1].lower()):
        return said[1].lower(), False
    is_length = words(column.name)[-1:] in _LENGTHS or "".join(words(column.name)) in ("runtime", "runningtime")
    lasts = bool(_LASTING & {singular(word) for word in words(table)})
    if is_length and lasts and column.most is not None and MINUTES_LEAST <= column.most <= MINUTES_MOST:
        return "minutes", True
    return None
