"""What somebody is or does: a role, a field, a skill, a rank, a kind of work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quarry.language.tokens import keys, unique
from quarry.language.word_forms import fields_of_worker
from quarry.people.facets import PEOPLE
from quarry.people.query.draft import Draft, Role, facets_of, values_of
from quarry.spans.mention import Known, KnownValue, Mention, Word

ROLES = frozenset(
    {"title", "domain", "sub_domain", "skill", "degree", "seniority", "employment", "intent", "headline", "bio"}
)
ONE_OF_MANY = frozenset({"title", "domain", "sub_domain", "seniority", "employment", "intent"})
"""Of these one experience has a single value: two of them that "and" joins are alternatives."""

REQUIRED = {
    "domain": "domain", "sub_domain": "sub_domain", "seniority": "seniority_level", "employment": "employment_type",
    "intent": "intent_primary",
}  # fmt: skip
"""The facets that are made hard where the query insists on them, with their fields."""
HARD_INTENTS = frozenset({"education", "project", "community", "certification", "career_break"})
"""Kinds of experience that are made hard where the query insists; people work, teach and do research under other headings too."""

LEARNT = frozenset({"skill", "degree"})
ROLE_NAMES_MAX = 12
DESCRIBING_MAX = 3
"""So many words in a row describe a role."""


def take_role(draft: Draft, place: int, mention: Mention, value: Known) -> None:
    said, should = draft.text(mention).lower(), draft.constraints.should
    values = [known for known in value.values if known.facet in ROLES | {"team"}]
    if mention.assertion == "negated":
        names = _names(said, values)
        draft.constraints.exclude.keywords += names
        draft.note("exclude.keywords", " or ".join(names), mention)
        return
    skills = [name.lower() for name in values_of(value, {"skill"})]
    should.skills_or_tools += skills
    should.intent_secondary += [name for name in values_of(value, {"intent"}) if name != "work"]
    if _is_required(draft, place) and _take_required(draft, mention, value):
        return
    meant = [known for known in values if _is_meant(said, known)]
    is_work = facets_of(mention) == {"intent"} and values_of(value, {"intent"}) == ["work"]
    if meant and not is_work:
        is_both = "both" in draft.words_before(place, 2)
        _add_role(draft, _joined(draft, place), _role(said, meant, is_both=is_both))
    elif not skills:
        draft.prefer(*_names(said, values), *said.split())
    elif said not in skills:
        draft.prefer(said)


def _joined(draft: Draft, place: int) -> Mention:
    """The mention, joined to what stands before it as a word that describes it is: "midwife or paediatric nurse"."""
    mention = draft.parsed.mentions[place]
    for before in reversed(draft.before(place, DESCRIBING_MAX)):
        if mention.joined_by or not isinstance(before.value, Word) or before.end + 1 != mention.start:
            break
        mention = replace(mention, start=before.start, joined_by=before.joined_by)
    return replace(draft.parsed.mentions[place], joined_by=mention.joined_by)


def put_roles(draft: Draft) -> None:
    """The roles; so is a team where nothing says of which company."""
    must = draft.constraints.must
    must.role = ["|".join(names) for names in draft.roles]
    if must.team_norm and not must.company_norm and not draft.is_team_required:
        must.role.append("|".join(must.team_norm))
        must.team_norm = []


def _names(said: str, values: Iterable[KnownValue]) -> Sequence[str]:
    return unique((said, *(known.value.lower().replace("_", " ") for known in values)))


def _is_required(draft: Draft, place: int) -> bool:
    """Whether the question insists on it, or on the noun that it describes ("healthcare experience is a must")."""
    mention, *following = draft.parsed.mentions[place : place + 2]
    return mention.assertion == "required" or any(
        each.assertion == "required" and isinstance(each.value, Word) and each.start == mention.end + 1
        for each in following
    )


def _take_required(draft: Draft, mention: Mention, value: Known) -> bool:
    """Make hard what the question insists on. False where there is no field for it."""
    for facet, name in REQUIRED.items():
        values = [each.lower() for each in values_of(value, {facet})]
        if facet == "intent":
            values = [each for each in values if each in HARD_INTENTS]
        if values:
            draft.put(name, values, mention)
            return True
    return False


def _is_meant(said: str, known: KnownValue) -> bool:
    """Whether words say a value as it stands, but for the plural, by another name ("HR"), or by who does it ("chemists" for
    chemistry): "price" is no pricing, and "trains" no trainer.
    """
    if known.likeness < 1:
        return known.facet in ("title", "domain") and known.is_whole
    words, value = _singulars(said), _singulars(known.value)
    if not (known.is_whole and words and value) or "".join(words) == "".join(value) or _is_worker(words, value):
        return True
    return any(_singulars(word) == words for word, _ in PEOPLE.facet(known.facet).synonyms)


def _is_worker(words: Sequence[str], field: Sequence[str]) -> bool:
    """Whether words call people by their field: "military engineers", of military engineering."""
    return words[:-1] == field[:-1] and field[-1] in {_singular(form) for form in fields_of_worker(words[-1])}


def _singulars(text: str) -> list[str]:
    return [_singular(key) for key in keys(text)]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word.removesuffix("ies") + "y"
    return word if word.endswith(("ss", "ics")) else word.removesuffix("s")


def _role(said: str, meant: Sequence[KnownValue], *, is_both: bool) -> Role:
    words = _singulars(said)
    if any(known.facet == "title" and known.is_whole and _singulars(known.value) == words for known in meant):
        # where people are called so, who knows or studied it is not yet one: no interpreter is a translator
        meant = [known for known in meant if known.facet not in LEARNT or _singulars(known.value) == words]
    return Role(
        _names(said, meant)[:ROLE_NAMES_MAX],
        frozenset(known.facet for known in meant),
        is_of_people=any(
            known.is_whole and (known.facet == "title" or (words and _is_worker(words, _singulars(known.value))))
            for known in meant
        ),
        is_both=is_both,
    )


def _add_role(draft: Draft, mention: Mention, role: Role) -> None:
    """Another role that must hold; an alternative to the one before where "or" joins them, or where "and" joins two of which
    people have one: "economists and lawyers" are some of each, but for "both".
    """
    before = draft.last_role
    if mention.joined_by == "and":
        role = replace(role, is_both=role.is_both or before.is_both)
    alike = role.facets & before.facets
    is_one_of_many = (role.is_of_people and before.is_of_people) or (alike & ONE_OF_MANY and "skill" not in alike)
    is_alternative = mention.joined_by == "or" or (mention.joined_by == "and" and is_one_of_many and not before.is_both)
    if is_alternative and draft.roles:
        draft.roles[-1] = list(unique((*draft.roles[-1], *role.names)))
    else:
        draft.roles.append(list(role.names))
    draft.last_role = role
    draft.note("must.role", "|".join(role.names), mention)
