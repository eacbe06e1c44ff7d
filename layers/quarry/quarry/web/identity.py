"""Who the caller is.

Deployed, API Gateway has verified a Cognito token and the Lambda event carries its claims; nothing that a client can put into
a header is read. Locally, `Authorization: Bearer NAME` makes NAME the user.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Request

from quarry.platform.errors import NotAuthenticated
from quarry.services.services import LOCAL_USER, Caller, Services

_LOCAL_NAME = re.compile(r"[^\x00-\x20\x7f]{1,64}")


def services_of(request: Request) -> Services:
    """The process' services, as a route's dependency."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


ServicesDependency = Annotated[Services, Depends(services_of)]


def verified_caller(request: Request) -> Caller:
    """The caller, as a route's dependency. Raises NotAuthenticated."""
    if services_of(request).settings.identity == "gateway":
        return _from_gateway(request.scope.get("aws.event"))
    return _from_bearer_name(request.headers.get("authorization"))


def _from_gateway(event: Any) -> Caller:
    try:
        claims = event["requestContext"]["authorizer"]["claims"]
        subject = claims["sub"]
    except (KeyError, TypeError):
        raise NotAuthenticated("Sign in first.") from None
    if not isinstance(subject, str) or not subject:
        raise NotAuthenticated("Sign in first.")
    return Caller(subject, {name: value for name, value in claims.items() if isinstance(value, str)})


def _from_bearer_name(header: str | None) -> Caller:
    if header is None:
        return Caller(LOCAL_USER)
    scheme, _, name = header.partition(" ")
    if scheme.lower() != "bearer" or not _LOCAL_NAME.fullmatch(name.strip()):
        raise NotAuthenticated("Locally the header is `Authorization: Bearer NAME`, NAME being 1 to 64 characters.")
    return Caller(name.strip())
