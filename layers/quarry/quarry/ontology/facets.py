"""What the things of a workspace can be filtered, counted and grouped by. A property that a thing lacks is simply not there."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.ontology.contract import EntityType
from quarry.ontology.tables import TABLES
from quarry.retrieval.facets import Facet, Related, SearchTable

_PROJECT = Facet(
    "project", "name", "name", "project", "projects", related="project",
    words=("workspace",), wording="in {}",
)  # fmt: skip
_STATUS = Facet("status", "value", "t.props->>'status'", "status", "statuses", words=("state", "progress"))
_ASSIGNEE = Facet(
    "assignee", "name", "t.props->>'assignee'", "assignee", "assignees",
    words=("assigned to", "owner", "responsible"), wording="assigned to {}",
)  # fmt: skip
_PRIORITY = Facet(
    "priority", "value", "t.props->>'priority'", "priority", "priorities", words=("importance", "urgency")
)
_KIND = Facet("kind", "value", "t.props->>'kind'", "kind", "kinds", words=("type", "sort"), is_hard=False)
_SOURCE = Facet("source", "value", "t.props->>'source'", "source", "sources", words=("origin",), wording="from {}")
_DUE = Facet(
    "due", "date", "day_of_text(t.props->>'due')", "due date", "due dates", words=("due", "deadline"), wording="due {}"
)
_CREATED = Facet(
    "created", "date", "(t.created_at at time zone 'UTC')::date", "creation", "creations",
    words=("created", "added", "made"), wording="created {}",
)  # fmt: skip
_UPDATED = Facet(
    "updated", "date", "(t.updated_at at time zone 'UTC')::date", "update", "updates",
    words=("updated", "changed", "edited"), wording="updated {}",
)  # fmt: skip

_NOUNS: Mapping[EntityType, tuple[str, ...]] = {
    "task": ("task", "todo", "to-do", "action"),
    "plan": ("plan",),
    "goal": ("goal", "objective", "aim"),
    "milestone": ("milestone",),
    "document": ("document", "doc", "note"),
    "output": ("output", "deliverable", "result"),
    "requirement": ("requirement",),
}
_DATED: frozenset[EntityType] = frozenset({"task", "milestone"})


def _searched(type: EntityType) -> SearchTable:
    return SearchTable(
        TABLES[type],
        nouns=_NOUNS[type],
        date="due" if type in _DATED else "updated",
        scope="created_by",
        related=(Related("project", "onto_projects", "r.id = t.project_id"),),
        facets=(_PROJECT, _STATUS, _ASSIGNEE, _PRIORITY, _KIND, _SOURCE, _DUE, _CREATED, _UPDATED),
    )


SEARCHED_BY_TYPE: Mapping[EntityType, SearchTable] = {type: _searched(type) for type in TABLES}

SEARCHED = tuple(SEARCHED_BY_TYPE.values())
