"""The first step: does the question name a company, and does it ask for that company or for similar ones?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quarry.companies.candidates import NameMatch
from quarry.companies.constraints import as_understood
from quarry.companies.context import CompanyInquiry, Context
from quarry.companies.contract import Company
from quarry.companies.fallbacks import seed_variants
from quarry.companies.names import LIKELY, Name, read_names, without_names
from quarry.companies.query import CompanyIntent
from quarry.companies.reading import read_sought
from quarry.companies.snippets import profile_words, with_former_names
from quarry.companies.store import companies_by_ids, find_names, stored_vectors
from quarry.language.word_forms import slips
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words
from quarry.retrieval.facets import folded_value

MEANT_MIN = 0.2
"""The least chance at which a company's name in a question is taken as one."""
SLIPS_MAX = 2
LETTERS_A_SLIP = 4


async def look_up_names(context: Context) -> CompanyInquiry:
    """Read the question, and find the companies of any status that it names. A company that it asks about ends the search; else
    others like it may be wanted.
    """
    names = await off_loop(read_names, context.question)
    matches = await match_names(context, [name.text for name in names])
    likened = next((name for name in names if name.relation == "like" and name.chance >= LIKELY), None)
    with context.run.step("name_precheck") as record:
        named = _names_meant(context, names, matches)
        record.counts.update(names=len(names), matches=len(matches), named=len(named))
    if not named and likened is not None:
        return await _similar(context, names, matches, likened)
    inquiry = CompanyInquiry(
        await _read(context, context.question), names, matches, left_out=_only_mentioned(context, names, matches)
    )
    if not named:
        return replace(inquiry, detail=_near(matches))
    companies = await look_up(context, [match.company_id for match in named], {})
    return replace(inquiry, exact=named, companies=companies, detail=_called(named, companies))


async def name_only(context: Context) -> CompanyInquiry:
    """The companies that a question may name. Only a question that is nothing but a name ends the search."""
    names = await off_loop(read_names, context.question)
    matches = await match_names(context, [name.text for name in names])
    with context.run.step("name_precheck") as record:
        whole = [name for name in names if name.is_whole]
        named = _names_meant(
            context, whole, [match for match in matches if match.asked in {name.text for name in whole}]
        )
        record.counts.update(names=len(names), matches=len(matches), named=len(named))
    inquiry = CompanyInquiry(CompanyIntent(), names, matches, detail=_near(matches))
    if not named:
        return inquiry
    companies = await look_up(context, [match.company_id for match in named], {})
    return replace(inquiry, exact=named, companies=companies, detail=_called(named, companies))


async def _similar(
    context: Context, names: Sequence[Name], matches: Sequence[NameMatch], likened: Name
) -> CompanyInquiry:
    """What the question seeks of companies like the one that it names."""
    like = {name.text for name in names if name.relation == "like"}
    named = [
        match for match in matches if match.asked in like and match.name_score >= context.settings.company_seed_name_min
    ]
    companies = await look_up(context, [match.company_id for match in named], {}) if named else {}
    with context.run.step("seed_context") as record:
        seed = await off_loop(_seed, context.question, named, companies)
        record.counts.update(companies=len(companies), variants=len(seed_variants(seed)) if seed else 0)
    if seed is None:
        intent = await _read(context, context.question)
        return CompanyInquiry(intent, names, matches, likened=likened.text, detail=_near(matches))
    names_said = {match.asked for match in named}
    rest = await off_loop(without_names, context.question, [name for name in names if name.text in names_said])
    vectors = await stored_vectors(context.services.reader, seed.id)
    # what is left of the question does not ask how many companies there are
    return CompanyInquiry(
        replace(await _read(context, rest), asks=None),
        names,
        matches,
        likened=likened.text,
        seed=seed,
        seed_vectors=vectors,
        companies=companies,
        detail=_called(named, companies),
    )


def _near(matches: Sequence[NameMatch]) -> str:
    return f"no, the nearest is {matches[0].company_name}" if matches else "no company has that name"


def _called(named: Sequence[NameMatch], companies: Mapping[str, Company]) -> str:
    found = (companies[match.company_id] for match in named if match.company_id in companies)
    return " and ".join(dict.fromkeys(map(with_former_names, found)))


async def _read(context: Context, question: str) -> CompanyIntent:
    """What a question seeks after the earlier ones, or what the request says in its place."""
    earlier = [message.content[:QUERY_MAX_CHARACTERS] for message in context.request.history if message.role == "user"]
    with context.run.step("read_question"):
        seeks = await read_sought(question, earlier, context.caller, context.services)
    return as_understood(seeks, context.request.understood)


async def match_names(context: Context, names: Sequence[str]) -> list[NameMatch]:
    """The companies with one of these names or a similar one, best first."""
    if not names:
        return []
    with context.run.step("search_exact_name_v1") as record:
        context.run.budget.spend_call()
        matches = await find_names(context.services.reader, names, context.settings)
        record.counts.update(names=len(names), found=len(matches))
    return matches


async def look_up(context: Context, ids: Sequence[str], known: Mapping[str, Company]) -> dict[str, Company]:
    """The known companies, and those of the other ids, read in full."""
    unknown = [id for id in ids if id not in known]
    if not unknown:
        return dict(known)
    with context.run.step("get_companies_by_ids_v1") as record:
        context.run.budget.spend_call()
        found = await companies_by_ids(context.services.reader, unknown)
        record.counts.update(ids=len(unknown), found=len(found))
    return {**known, **{company.id: company for company in found}}


def _names_meant(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> list[NameMatch]:
    """The matches that the question is about: a name is the whole question, or it asks about that company. Of a name within a
    longer one, the longer counts. A misspelt name counts too.
    """
    by_text = {name.text: name for name in reversed(names)}
    exact = [match for match in matches if match.name_score >= context.settings.company_exact_name_min]
    borne = [by_text[text] for text in dict.fromkeys(match.asked for match in exact)]
    longest = [name for name in borne if not any(other.holds(name) for other in borne)]
    about = {name.text for name in longest if name.is_whole or _is_about(name, MEANT_MIN)}
    if about:
        return [match for match in exact if match.asked in about]
    likely = {name.text for name in names if not borne and (name.is_whole or _is_about(name, LIKELY))}
    return [match for match in matches if match.asked in likely and _is_a_slip(match.asked, match.company_name)][:1]


def _only_mentioned(context: Context, names: Sequence[Name], matches: Sequence[NameMatch]) -> frozenset[str]:
    """The companies that a question only mentions, such as the buyer of those asked for: they are no answer themselves."""
    mentioned = {name.text for name in names if name.relation == "mentioned" and name.chance >= LIKELY}
    least = context.settings.company_exact_name_min
    return frozenset(each.company_id for each in matches if each.asked in mentioned and each.name_score >= least)


def _is_about(name: Name, chance: float) -> bool:
    return name.relation == "about" and name.chance >= chance


def _is_a_slip(spelling: str, name: str) -> bool:
    """Whether a name was misspelt: at most one wrong letter in four."""
    spelling, name = folded_value(spelling), folded_value(name)
    return slips(spelling, name) <= min(SLIPS_MAX, len(name) // LETTERS_A_SLIP)


def _seed(question: str, named: Sequence[NameMatch], companies: Mapping[str, Company]) -> Company | None:
    """The company with the best score; among equals, the one that shares most words with the question."""
    question_words = set(significant_words(question))
    scores = {match.company_id: match.name_score for match in named}
    return max(
        companies.values(),
        key=lambda company: (
            scores[company.id],
            len(question_words & profile_words(company)),
            company.status == "startup",
        ),
        default=None,
    )
