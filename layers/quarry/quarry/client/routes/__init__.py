"""The routes of the API as methods: one class a domain, each function saying what its call sends.

`/v1/` and `/mcp` are left to the official clients of their protocols.
"""

from quarry.client.routes.campaigns import CampaignRoutes
from quarry.client.routes.companies import CompanyRoutes
from quarry.client.routes.generated import GeneratedRoutes
from quarry.client.routes.people import PeopleRoutes
from quarry.client.routes.query import QueryRoutes
from quarry.client.routes.records import RecordRoutes
from quarry.client.routes.service import ServiceRoutes


class Routes(QueryRoutes, RecordRoutes, PeopleRoutes, CompanyRoutes, CampaignRoutes, ServiceRoutes, GeneratedRoutes):
    """All of them."""
