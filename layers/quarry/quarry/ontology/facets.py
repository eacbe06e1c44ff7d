"""The facets of the entities in a workspace, as `quarry.toml` declares them."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.collections.collection import own_tables
from quarry.collections.search_table import search_table
from quarry.ontology.contract import EntityType
from quarry.ontology.tables import LOADABLE, TABLES
from quarry.schema.facets import SearchTable

COLLECTIONS = own_tables(__file__, LOADABLE)
SEARCHED = tuple(map(search_table, COLLECTIONS))
SEARCHED_BY_TYPE: Mapping[EntityType, SearchTable] = dict(zip(TABLES, SEARCHED, strict=True))
