"""What questions about companies seek, as values, for tests of what comes after reading."""

from __future__ import annotations

from quarry.companies.state import STARTUPS, CompanyIntent, TagGroup
from quarry.platform.text import significant_words
from quarry.schema.algebra import Comparison, Condition


def seeking(topic: str = "", *stated: Condition, tags: dict[str, tuple[str, str]] | None = None) -> CompanyIntent:
    """What is sought: a topic, conditions, and tags by the words that name them: a field and its value."""
    groups = tuple(
        TagGroup(name, (Comparison(field=field, values=(value,)),), is_demanded=True)
        for name, (field, value) in (tags or {}).items()
    )
    is_plain = bool(groups) and {*significant_words(topic)} <= {*significant_words(" ".join(tags or {}))}
    return CompanyIntent(
        stated=stated,
        assumed=(STARTUPS,),
        tags=groups,
        topic=topic,
        words=tuple(significant_words(topic)),
        is_plain=is_plain,
    )
