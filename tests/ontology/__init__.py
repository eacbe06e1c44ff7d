from typing import get_args

from quarry.ontology.contract import EntityType

ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)
