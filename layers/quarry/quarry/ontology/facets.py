"""The facets of the entities in a workspace, as `quarry.toml` declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quarry.collections.facets import facet_source, own_tables
from quarry.ontology.tables import LOADABLE, TABLES
from quarry.schema.source import Source

if TYPE_CHECKING:
    from quarry.ontology.contract import EntityType

COLLECTIONS = own_tables(__file__, LOADABLE)
SEARCHED = tuple(map(facet_source, COLLECTIONS))
SEARCHED_BY_TYPE: Mapping[EntityType, Source] = dict(zip(TABLES, SEARCHED, strict=True))
