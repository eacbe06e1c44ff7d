"""What the function `console` serves."""

from quarry.core.web import page_routes
from quarry.core.web.console_routes import console_router

# By name, and not from the domains: importing them for this costs more than all else that the function does.
SEARCHED_TABLES = {
    "campaigns": ("campaigns",),
    "companies": ("companies",),
    "ontology": (
        "onto_tasks", "onto_plans", "onto_goals", "onto_milestones", "onto_documents", "onto_outputs", "onto_requirements",
    ),
    "people": ("people",),
    "records": ("motions", "agenda_items", "matters", "document_sections", "key_statements", "transcript_segments"),
}  # fmt: skip
"""The tables that are searched, by domain: it holds data when one of them does."""

ROUTERS = (page_routes.router, console_router(SEARCHED_TABLES))
