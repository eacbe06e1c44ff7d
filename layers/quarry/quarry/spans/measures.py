"""What numbers of rows are called."""

from __future__ import annotations

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet

_ON_TOP = frozenset("freight shipping postage tax vat discount tip".split())
"""Names of money that comes on top of a price: nobody means it by a plain amount."""
SIDE_AMOUNTS = _ON_TOP | frozenset("deposit balance budget refund".split())
"""Names of money that is not what something is paid with."""
SALES = frozenset("order invoice sale purchase booking ticket basket cart checkout receipt".split())
"""What rows are called that tell of what was sold."""
QUANTITIES = frozenset(("quantity", "qty"))
"""What numbers are called that count what a row is of."""
TOTALS = frozenset(("total", "subtotal"))
"""What names a price that is paid for all of a row: it is an amount."""
ALREADY_SUMMED = TOTALS | {"sum"}
AMOUNT_STEMS = frozenset(
    stem(noun)
    for noun in "revenue turnover sales profit valuation valued worth capitalisation capitalization cap arr mrr gmv ebitda "
    "earnings income debt loss price cost budget salary".split()
)
"""The stems of what amounts of money are called: beside one of these, an amount is no other."""
_OF_EACH = frozenset(
    "price rate age score rating percentage percent temperature year margin discount height width depth length salary wage pay "
    "fee duration weight".split()
)
"""Names of numbers that a row has by itself: their sum says nothing."""
PAYMENTS = frozenset(
    stem(noun) for noun in "payment donation expense refund deposit contribution fine fee charge earning payout".split()
)
"""What rows are called that are amounts themselves: their total is a sum, where that of orders may be their number."""
MONEY_VERBS = frozenset(stem(verb) for verb in "spend spent pay paid earn earned invoice billed charge charged".split())


def is_additive(facet: Facet) -> bool:
    """Whether the sum over rows says something: of amounts and quantities, not of prices, rates and ages."""
    called = words_of(facet)
    return bool(called & ALREADY_SUMMED) or not called & _OF_EACH


def words_of(facet: Facet) -> set[str]:
    """The words of what a number is called, by its name and its label."""
    return {*facet.name_words, *keys(facet.label)}
