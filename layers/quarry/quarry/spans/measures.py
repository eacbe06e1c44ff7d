"""What numbers of rows are called, and which words speak of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.retrieval.facets import Facet
from quarry.spans.quantities import Dimension, dimension_of

ADJECTIVES: Mapping[str, tuple[str, ...]] = {
    "expens": ("price", "cost", "fee", "rate"), "cheap": ("price", "cost", "fee", "rate"),
    "costli": ("price", "cost", "fee", "rate"), "dear": ("price", "cost", "fee", "rate"),
    "long": ("length", "duration", "runtime"), "short": ("length", "duration", "runtime", "height"),
    "quick": ("duration", "runtime"),
    "tall": ("height",), "heavi": ("weight", "mass"), "light": ("weight", "mass"), "old": ("age",), "young": ("age",),
    "deep": ("depth",), "wide": ("width",), "narrow": ("width",), "thick": ("thickness",), "thin": ("thickness",),
    "fast": ("speed",), "slow": ("speed",), "large": ("size",), "larg": ("size",), "big": ("size",), "small": ("size",),
    "rate": ("rating", "stars", "score"), "review": ("rating", "stars", "score"), "paid": ("salary", "wage", "pay"),
}  # fmt: skip
"""Adjectives and participles ("best rated"), by stem, and the nouns of what they say much or little of."""
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
_SIZES: tuple[tuple[Dimension, ...], ...] = (("bytes", "area"), ("volume",), ("length",))
_DIMENSIONS: Mapping[str, tuple[tuple[Dimension, ...], ...]] = {
    "long": (("time", "length"),), "short": (("time", "length"),), "quick": (("time",),), "heavi": (("mass",),),
    "light": (("mass",),), "tall": (("length",),), "larg": _SIZES, "large": _SIZES, "big": _SIZES, "small": _SIZES,
    "wide": (("length",),), "deep": (("length",),),
}  # fmt: skip
"""What such adjectives measure, where a number's unit says that it is that: any of the first that there are."""
_VERBS: Mapping[str, str] = {
    stem(word): adjective
    for adjective, words in {
        "expens": "cost costs costing priced worth", "paid": "earn earns earned earning",
        "heavi": "weigh weighs weighed weighing",
        "long": "last lasts lasted lasting take takes took taking run runs ran running",
    }.items()
    for word in words.split()
}  # fmt: skip
"""Verbs of measures, by stem, and the adjectives of what they measure."""


MEASURING = frozenset(ADJECTIVES.keys() | _VERBS.keys()) - set(map(stem, "earn earned run ran".split()))
"""The stems of all words that speak of a number without naming it, and of nothing else: who runs something does not last."""


def is_additive(facet: Facet) -> bool:
    """Whether the sum over rows says something: of amounts and quantities, not of prices, rates and ages."""
    called = words_of(facet)
    return bool(called & ALREADY_SUMMED) or not called & _OF_EACH


def words_of(facet: Facet) -> set[str]:
    """The words of what a number is called, by its name and its label."""
    return {*facet.name_words, *keys(facet.label)}


def words_measuring(names: Iterable[str]) -> frozenset[str]:
    """The stems of the adjectives and verbs that speak of what numbers of these names tell: "cost" and "expensive" of a price."""
    given = {*names}
    adjectives = {adjective for adjective, nouns in ADJECTIVES.items() if given & {*nouns}}
    dimensions = {dimension_of(name) for name in given} - {None}
    adjectives |= {adjective for adjective, of in _DIMENSIONS.items() if any(dimensions & {*each} for each in of)}
    return frozenset(adjectives | {verb for verb, adjective in _VERBS.items() if adjective in adjectives})
