"""What the numbers of anybody's rows say of stock: whether there is any, and whether it is below a limit beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quarry.retrieval.facets import Facet

_STOCK = frozenset(("stock", "inventory"))
_ON_HAND = ("on", "hand")
_LEAST = frozenset("reorder minimum min threshold safety".split())
_LIMITS = _LEAST | frozenset("maximum max target".split())


def stock_facets(facets: Sequence[Facet]) -> Iterator[Facet]:
    """ "In stock" of the only number that is of stock; "below the reorder level" of the only limit that it may fall below."""
    numbers = [(facet, facet.name_words) for facet in facets if facet.is_measurable]
    own = [(facet, said) for facet, said in numbers if facet.kind == "number" and facet.steps == 0]
    stocks = [facet for facet, said in own if (_STOCK & {*said} or said[-2:] == _ON_HAND) and not _LIMITS & {*said}]
    taken = {facet.name for facet in facets}
    if len(stocks) != 1 or "in_stock" in taken:
        return
    yield Facet(
        "in_stock", "boolean", f"({stocks[0].sql} > 0)", "in stock", "in stock", words=("on stock",), wording="in stock"
    )
    limits = [facet for facet, said in own if _LEAST & {*said} and facet is not stocks[0]]
    if len(limits) != 1 or "below_limit" in taken:
        return
    [limit] = limits
    said = [
        f"{below} {article}{limit.label}" for below in ("below", "under") for article in ("", "the ", "its ", "their ")
    ]
    yield Facet(
        "below_limit", "boolean", f"({stocks[0].sql} < {limit.sql})", said[0], said[0],
        words=(*said[1:], "low on stock", "low in stock", "running low", "understocked"), wording=said[0],
    )  # fmt: skip
