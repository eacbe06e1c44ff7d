"""What the check of a written answer about companies holds it against: the profiles that the model saw. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from quarry.companies.contract import Company
from quarry.companies.snippets import facts, profile_sentences, with_former_names
from quarry.verification.wire import SourceText

Known = tuple[Company, Sequence[str]]
"""A company, and what else the model was told of it."""

_SAID = {
    "status": "Status: {}",
    "founded": "It was founded in {}",
    "employees": "It has {} employees",
    "fundingStage": "Funding stage: {}",
    "raisedUsd": "It raised USD {}",
    "acquirer": "It was acquired by {}",
    "closed": "It closed in {}",
    "home": "It is based in {}",
}


def evidence(companies: Iterable[Known], facts: Iterable[str] = ()) -> list[SourceText]:
    """A source for each company, and one for what was told of all of them."""
    sources = [
        SourceText(n, company.company_name, "\n".join([*_lines(company), *more]))
        for n, (company, more) in enumerate(companies, start=1)
    ]
    text = "\n".join(f"{each[:1].upper()}{each[1:]}." for each in facts if each)
    return [*sources, SourceText(len(sources) + 1, "The search", text)] if text else sources


def _lines(company: Company) -> Iterator[str]:
    """The profile as sentences: its texts, then its facts."""
    yield f"{with_former_names(company)}."
    yield from profile_sentences(company)
    for name, value in facts(company).items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{_SAID.get(name, f'{name.capitalize()}: {{}}').format(shown)}."
    if company.website_url:
        yield company.website_url
