"""The routes of the API as methods: one class a domain, each function saying what its call sends.

`/v1/` and `/mcp` are left to the official clients of their protocols.
"""

from quarry.client.routes.campaigns import CampaignRoutes
from quarry.client.routes.companies import CompanyRoutes
from quarry.client.routes.kept import KeptRoutes
from quarry.client.routes.ontology import OntologyRoutes
from quarry.client.routes.people import PeopleRoutes
from quarry.client.routes.query import QueryRoutes
from quarry.client.routes.records import RecordRoutes
from quarry.client.routes.service import ServiceRoutes


class Routes(
    QueryRoutes, RecordRoutes, PeopleRoutes, CompanyRoutes, CampaignRoutes, OntologyRoutes, KeptRoutes, ServiceRoutes
):
    """All of them."""
