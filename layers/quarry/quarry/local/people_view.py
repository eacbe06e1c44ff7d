"""How the answer to a search of people looks in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel
from rich.text import Text

from quarry.local.askable import Askable, View
from quarry.local.terminal import conditions_line, printable
from quarry.people.contract import (
    FALLBACK_TIERS,
    Constraints,
    ExperienceCard,
    PeopleSearchRequest,
    PeopleSearchResponse,
    PersonResult,
)


class PeopleView(View):
    """A search's answer, readable: how the query was read, the people with reasons and cards, what could be relaxed."""

    def show(self, event: BaseModel) -> None:
        assert isinstance(event, PeopleSearchResponse)
        self._show_reading(event.constraints)
        if not event.people:
            self._line("\nNobody was found.")
        elif event.fallback_tier:
            self._line(f"\nToo few people fit exactly: {FALLBACK_TIERS[event.fallback_tier]}.", "yellow")
        for place, person in enumerate(event.people, start=1):
            self._show_person(place, person)
        self._show_relaxations(event)
        self._console.print()
        self._tell_degraded(event.degraded)
        self._line(f"search {event.search_id}, which cost a credit", "dim")

    def _show_reading(self, constraints: Constraints) -> None:
        for name, facts in (
            ("must", _facts(constraints.must)),
            ("should", _facts(constraints.should)),
            ("not", _facts(constraints.exclude)),
        ):
            if listed := "; ".join(facts):
                self._console.print(Text.assemble((f"{name:<7}", "dim"), printable(listed)))

    def _show_person(self, place: int, person: PersonResult) -> None:
        self._console.print()
        self._console.print(Text.assemble((f"{place}. ", "cyan"), (printable(person.name or person.id), "bold")))
        if person.headline:
            self._line(f"   {person.headline}")
        if line := conditions_line(person.meets, person.misses):
            self._console.print(Text("   ") + line)
        for reason in person.why_matched:
            self._line(f"   • {reason}", "green")
        for card in person.matched_cards:
            self._line(f"   {_card(card)}", "dim")

    def _show_relaxations(self, event: PeopleSearchResponse) -> None:
        if not event.relaxations:
            return
        self._line("\nWith one constraint less", "bold")
        for relaxation in event.relaxations:
            self._line(f"• {relaxation.label}: {relaxation.additional_people:,} more")


def _facts(constraints: BaseModel) -> Iterator[str]:
    """What is set, as "city: pune"."""
    for name, value in constraints.model_dump(exclude_defaults=True).items():
        yield f"{name.removesuffix('_norm').replace('_', ' ')}: {_listed(value)}"


def _listed(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def _card(card: ExperienceCard) -> str:
    """ "Backend engineer, Kestrel Labs, Pune, 2019 to now"."""
    start = str(card.start_date.year) if card.start_date else ""
    end = str(card.end_date.year) if card.end_date else "now" if card.is_current else ""
    period = " to ".join(part for part in (start, end) if part)
    return ", ".join(part for part in (card.title, card.company_name, card.city, period) if part)


ASKABLE = Askable(
    lambda question: PeopleSearchRequest(query=question),
    ("quarry.people.search", "search_people"),
    lambda client, question: client.search_people(question),
    PeopleView,
)
