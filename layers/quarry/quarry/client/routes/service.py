"""Runs, and the service itself."""

from __future__ import annotations

from types import NoneType

from quarry.client.calls import given, route
from quarry.client.wire import Sent
from quarry.web.contract import Feedback, Health, PageConfig


class ServiceRoutes:
    @route("DELETE /runs/{id}", NoneType)
    def cancel_run(self, id: str) -> Sent:
        """End a stream of yours that still goes on; `run_id` of a stream is its run's."""
        return Sent(path={"id": id})

    @route("POST /runs/{id}/feedback", NoneType)
    def give_feedback(self, id: str, *, helpful: bool, reason: str | None = None) -> Sent:
        """Say whether a run of yours helped; a later word replaces an earlier one."""
        return Sent(path={"id": id}, body=given(Feedback, helpful=helpful, reason=reason))

    @route("GET /health", Health, also=503)
    def health(self, *, deep: bool = False) -> Sent:
        """Whether the service can answer; `deep`: also where asking wakes its database."""
        return Sent(query={"deep": "true"} if deep else None)

    @route("GET /config.json", PageConfig)
    def config(self) -> Sent:
        """Which domains hold data, and how users sign in."""
        return Sent()
