"""Writes `events/`: `python -m tools.record_events`.

Builds every request and other event as AWS would, invokes with it the function that `sam build` makes of this checkout, under
AWS's emulator and on the sample data, and writes the output next to it. Keeps files whose meaning is unchanged.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quarry.local.data import load_sample
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS
from quarry.postgres.migrate import migrate
from quarry.postgres.pool import Database
from tests.deployed.replay import (
    EVENTS,
    OBJECT_CREATED,
    PUT_FILE,
    RESPONSE,
    SHARED_ANSWER,
    STREAM,
    Answer,
    Event,
    RecordedEvent,
    comparable,
    files_put,
    forget_vectors,
    pretty,
    recorded_events,
)
from tests.deployed.rie import EmulatedFunction, emulated
from tools.rehearsal.artifacts import build
from tools.rehearsal.template import ROOT

ACCOUNT = "123456789012"
REGION = "us-east-1"
API = "q4x7example"
STAGE = "prod"
BUCKET = f"quarry-{STAGE}-databucket-1m8k4tq7zexample"
APP_CLIENT = "4vq8exampleclient0"
SUBJECT = "7c2f4d1e-90a3-4b65-8e1d-2f6a5b3c9d80"
WORKSPACE_OWNER = "demo"  # the owner of most of the sample workspace
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"

# null if no AWS identity signed the request
UNKNOWN_OF_THE_CLIENT = (
    "accessKey",
    "accountId",
    "caller",
    "cognitoAuthenticationProvider",
    "cognitoAuthenticationType",
    "cognitoIdentityId",
    "cognitoIdentityPoolId",
    "principalOrgId",
)

ANSWER_ID = "pVx0mZ3Tq7yJc2LwN8rKdA"
QUESTION = "Who moved the motion on the Sable River Bridge?"
PEOPLE_QUERY = "Go engineers in Bengaluru who are open to work, for up to 50 LPA"
CAMPAIGNS_QUESTION = "What are the offers from Tern & Co?"
ROWS_QUERY = {
    "source": "motion",
    "where": [{"field": "result", "value": "carried"}, {"field": "meeting.body", "value": "City Council"}],
    "select": ["id", "title", "mover", "meeting.title"],
    "order": [{"by": "date", "direction": "desc"}],
    "limit": 3,
}
GROUPS_QUERY = {
    "source": "companies",
    "where": [{"field": "country", "value": "India"}, {"not": {"field": "status", "value": "closed"}}],
    "aggregate": [{"fn": "count"}, {"fn": "avg", "field": "funding"}],
    "group": [{"field": "city"}],
    "order": [{"by": "count", "direction": "desc"}],
}
MCP_ACCEPT = "application/json, text/event-stream"
PERSON_ID = "p-anagha-venkataraman"
RUN_ID = "5b0f4c1e-7a93-4d28-b6e5-1f9d3a8c2074"
CONVERSATION_ID = "0c6d1f4b-2a87-4e39-9b51-8f3e7d2a6c10"
SAVED_SEARCH_ID = "e41b7a90-63fd-4c28-a7d5-2b9c0f8e1d36"
SEARCH_ID = "8d1f7a52-3f0e-4c7b-9a6d-54c1e2b7f093"


@dataclass(frozen=True)
class Request:
    """One request to the HTTP API; `resource` is its route as in the template."""

    method: str
    resource: str
    accept: str = "application/json"
    path: dict[str, str] = field(default_factory=dict)
    query: Sequence[tuple[str, str]] = ()
    headers: dict[str, str] = field(default_factory=dict)
    body: object = None
    public: bool = False
    subject: str = SUBJECT


REQUESTS = {
    "companies/chat": Request(
        "POST",
        "/companies/chat",
        accept="application/x-ndjson",
        body={"messages": [{"role": "user", "content": "Startups that let workers draw their wages early"}]},
    ),
    "companies/narrow_down": Request(
        "POST",
        "/companies/chat",
        accept="application/x-ndjson",
        body={
            "messages": [
                {"role": "user", "content": "Restaurant technology"},
                {"role": "assistant", "content": "Pass & Rail and others fit."},
                {"role": "user", "content": "Only the British ones"},
            ],
            "clientContext": {"previousCandidateIds": ["c-pass-and-rail", "c-uber-kitchen", "c-rotamoss"]},
        },
    ),
    "companies/company": Request("GET", "/companies/{id+}", path={"id": "c-afyapamoja"}),
    "records/search": Request(
        "GET",
        "/records/search",
        query=[("q", "Sable River Bridge"), ("type", "motion"), ("type", "agenda_item"), ("limit", "5")],
    ),
    "records/suggest": Request("GET", "/records/suggest", query=[("q", "sable riv brigde"), ("limit", "3")]),
    "records/collections": Request("GET", "/collections"),
    "records/facets": Request("GET", "/records/facets", query=[("type", "motion"), ("q", "bridge"), ("by", "result")]),
    "query/rows": Request("POST", "/query", body=ROWS_QUERY),
    "query/explain": Request("POST", "/query/explain", body={"question": QUESTION, "domain": "records"}),
    "query/groups": Request("POST", "/query", body=GROUPS_QUERY),
    "records/ask": Request(
        "POST", "/records/ask", accept="text/event-stream", body={"question": QUESTION, "fresh": True}
    ),
    "records/ask_by_query": Request(
        "GET", "/records/ask", accept="text/event-stream", query=[("q", QUESTION), ("fresh", "true")]
    ),
    "records/record": Request("GET", "/records/{type}/{id+}", path={"type": "motion", "id": "2023-11-14-council-m2"}),
    "people/search": Request(
        "POST",
        "/people/search",
        headers={"Idempotency-Key": "b5b3a3f0-6c1e-4f5e-8a55-0d0f6f1f2c11"},
        body={"query": PEOPLE_QUERY},
    ),
    "ontology/search": Request(
        "POST",
        "/ontology/search",
        body={"query": "marketing plan", "types": ["plan", "document"]},
        subject=WORKSPACE_OWNER,
    ),
    "ontology/ask": Request(
        "POST", "/ontology/ask", body={"question": "Which tasks are blocked?"}, subject=WORKSPACE_OWNER
    ),
    "ontology/entity": Request(
        "GET",
        "/ontology/{type}/{id+}",
        path={"type": "plan", "id": "spring-membership-plan-01"},
        subject=WORKSPACE_OWNER,
    ),
    "campaigns/campaign": Request("GET", "/campaigns/{id+}", path={"id": "cmp-lumen-voyage-3"}),
    "campaigns/chat": Request("POST", "/campaigns/chat", body={"message": CAMPAIGNS_QUESTION}),
    "campaigns/chat_stream": Request(
        "POST", "/campaigns/chat", accept="application/x-ndjson", body={"message": CAMPAIGNS_QUESTION}
    ),
    "agents/tools": Request(
        "POST", "/mcp", accept=MCP_ACCEPT, body={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    ),
    "agents/call": Request(
        "POST",
        "/mcp",
        accept=MCP_ACCEPT,
        body={
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {
                "name": "search",
                "arguments": {"text": "Sable River Bridge trucks", "source": "motion", "limit": 2},
            },
        },
    ),
    "agents/models": Request("GET", "/v1/models"),
    "agents/completion": Request(
        "POST",
        "/v1/chat/completions",
        body={"model": "quarry-records", "messages": [{"role": "user", "content": QUESTION}]},
    ),
    "agents/completion_stream": Request(
        "POST",
        "/v1/chat/completions",
        accept="text/event-stream",
        body={
            "model": "quarry-campaigns",
            "stream": True,
            "messages": [{"role": "user", "content": CAMPAIGNS_QUESTION}],
        },
    ),
    "people/discover": Request("GET", "/people", query=[("limit", "2")]),
    "people/person": Request("GET", "/people/{id}", path={"id": PERSON_ID}, query=[("search_id", SEARCH_ID)]),
    "people/profile": Request("GET", "/people/{id}/profile", path={"id": PERSON_ID}),
    "people/unlock": Request(
        "POST", "/people/{id}/unlock-contact", path={"id": PERSON_ID}, body={"search_id": SEARCH_ID}
    ),
    "people/credits": Request("GET", "/credits"),
    SHARED_ANSWER: Request("GET", "/answers/{id}", path={"id": ANSWER_ID}, public=True),
    "records/revoke": Request("DELETE", "/answers/{id}", path={"id": "qX1nV8Rb4zKd6TsM0wLeHA"}),
    "records/own_answer": Request("GET", "/me/answers/{id}", path={"id": "qX1nV8Rb4zKd6TsM0wLeHA"}),
    "records/share": Request(
        "POST", "/me/answers/{id}/share", path={"id": "qX1nV8Rb4zKd6TsM0wLeHA"}, body={"shared": True}
    ),
    "runs/cancel": Request("DELETE", "/runs/{id}", path={"id": RUN_ID}),
    "runs/feedback": Request("POST", "/runs/{id}/feedback", path={"id": RUN_ID}, body={"helpful": True}),
    "me/conversations": Request("GET", "/me/conversations"),
    "me/keep_conversation": Request(
        "POST", "/me/conversations", body={"domain": "records", "turns": [{"question": QUESTION}]}
    ),
    "me/conversation": Request("GET", "/me/conversations/{id}", path={"id": CONVERSATION_ID}),
    "me/change_conversation": Request(
        "PATCH", "/me/conversations/{id}", path={"id": CONVERSATION_ID}, body={"title": "The bridge"}
    ),
    "me/delete_conversation": Request("DELETE", "/me/conversations/{id}", path={"id": CONVERSATION_ID}),
    "me/searches": Request("GET", "/me/searches"),
    "me/save_search": Request(
        "POST", "/me/searches", body={"domain": "records", "name": "The bridge", "query": "Sable River Bridge"}
    ),
    "me/rename_search": Request("PATCH", "/me/searches/{id}", path={"id": SAVED_SEARCH_ID}, body={"name": "A bridge"}),
    "me/delete_search": Request("DELETE", "/me/searches/{id}", path={"id": SAVED_SEARCH_ID}),
    "me/open_search": Request(
        "POST",
        "/me/searches/{id}/opened",
        path={"id": SAVED_SEARCH_ID},
        body={"results": [{"type": "motion", "id": "2023-11-14-council-m2"}]},
    ),
    "service/health": Request("GET", "/health", public=True),
    "service/deep_health": Request("GET", "/health/deep"),
    "service/openapi": Request("GET", "/openapi.json", public=True),
    "console/config": Request("GET", "/config.json", public=True),
    "console/page": Request("GET", "/", accept="text/html", public=True),
    "console/search_page": Request("GET", "/search", accept="text/html", query=[("q", QUESTION)], public=True),
    "console/reference": Request("GET", "/docs", accept="text/html", public=True),
    # with a made-up version, so that the recording does not change with each edit of an asset
    "console/asset": Request(
        "GET", "/assets/{path+}", accept="image/svg+xml", path={"path": "000000000000/icon.svg"}, public=True
    ),
    "console/embed": Request("GET", "/embed/quarry-ask.js", accept="text/javascript", public=True),
}

SCHEDULED = ("cleanup", "embed")

BY_HAND: dict[str, Event] = {"migrate/by_hand": {}}


def main() -> int:
    for name, event in events().items():
        _write(EVENTS / f"{name}.json", pretty(event))
    with _sample_database() as url, files_put() as files, ExitStack() as running:
        artifacts = build()
        functions: dict[str, EmulatedFunction] = {}
        # an answer exists once its question has been asked
        for recorded in sorted(recorded_events(), key=lambda recorded: recorded.name == SHARED_ANSWER):
            recorded.prepare(url)
            if recorded.function not in functions:
                functions[recorded.function] = running.enter_context(
                    emulated(
                        artifacts,
                        recorded.function,
                        {"DATABASE_URL": url, "AWS_SAM_LOCAL": "true", **files.environment},
                    )
                )
            _record(recorded, functions[recorded.function])
    return 0


def events() -> dict[str, Event]:
    """Every event, by its path in `events/`."""
    requests = {name: api_gateway_event(request) for name, request in REQUESTS.items()}
    scheduled = {f"{function}/scheduled": scheduled_event(function) for function in SCHEDULED}
    return requests | scheduled | {OBJECT_CREATED: queued_event(object_created_event(PUT_FILE))} | BY_HAND


def api_gateway_event(request: Request) -> Event:
    """The input of a function from a REST API's proxy integration."""
    host = f"{API}.execute-api.{REGION}.amazonaws.com"
    path = request.resource
    for name, value in request.path.items():
        path = path.replace(f"{{{name}}}", quote(value, safe="")).replace(f"{{{name}+}}", quote(value))
    headers = {"Accept": request.accept}
    if not request.public:
        headers["Authorization"] = "Bearer eyJraWQiOiJleGFtcGxlIn0.eyJzdWIiOiJleGFtcGxlIn0.ZXhhbXBsZQ"
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    headers |= request.headers | {
        "Host": host,
        "User-Agent": BROWSER,
        "X-Amzn-Trace-Id": "Root=1-69202f41-3c1f0a5d7e9b4f2a61d80c35",
        "X-Forwarded-For": "203.0.113.24",
        "X-Forwarded-Port": "443",
        "X-Forwarded-Proto": "https",
    }
    multi_query: dict[str, list[str]] = {}
    for name, value in request.query:
        multi_query.setdefault(name, []).append(value)
    return {
        "resource": request.resource,
        "path": path,
        "httpMethod": request.method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(request.query) or None,
        "multiValueQueryStringParameters": multi_query or None,
        "pathParameters": request.path or None,
        "stageVariables": {
            "signInDomain": f"https://quarry-4f2a61d80c35.auth.{REGION}.amazoncognito.com",
            "signInClientId": APP_CLIENT,
        },
        "requestContext": _request_context(request, host, path),
        "body": None if request.body is None else json.dumps(request.body),
        "isBase64Encoded": False,
    }


def _request_context(request: Request, host: str, path: str) -> dict[str, Any]:
    identity = dict.fromkeys(UNKNOWN_OF_THE_CLIENT) | {
        "sourceIp": "203.0.113.24",
        "user": None,
        "userAgent": BROWSER,
        "userArn": None,
    }
    context: dict[str, Any] = {
        "accountId": ACCOUNT,
        "apiId": API,
        "domainName": host,
        "domainPrefix": API,
        "extendedRequestId": "VBp2hFQoIAMEJfA=",
        "httpMethod": request.method,
        "identity": identity,
        "path": f"/{STAGE}{path}",
        "protocol": "HTTP/1.1",
        "requestId": "5f0c2a0e-8b7d-4f57-9a44-0c9a1e3b6d12",
        "requestTime": "21/Nov/2026:09:30:25 +0000",
        "requestTimeEpoch": 1795253425112,
        "resourceId": "c8k2vz",
        "resourcePath": request.resource,
        "stage": STAGE,
    }
    return context if request.public else context | {"authorizer": {"claims": _claims(request.subject)}}


def _claims(subject: str) -> dict[str, str]:
    """The claims of a Cognito ID token as API Gateway writes them: every value is a text."""
    return {
        "aud": APP_CLIENT,
        "auth_time": "1795252801",
        "cognito:username": subject,
        "email": "resident@example.org",
        "email_verified": "true",
        "event_id": "0b8f1c36-52d7-4f0e-a1c9-6d3e2b7a9f41",
        "exp": "Sat Nov 21 10:20:01 UTC 2026",
        "iat": "Sat Nov 21 09:20:01 UTC 2026",
        "iss": f"https://cognito-idp.{REGION}.amazonaws.com/{REGION}_EXAMPLE",
        "sub": subject,
        "token_use": "id",
    }


def scheduled_event(function: str) -> Event:
    """The input from EventBridge Scheduler for a schedule without an input."""
    schedule = f"quarry-{STAGE}-{function.title()}FunctionSchedule"
    return {
        "version": "0",
        "id": "c0a1f5d8-2b74-4e6f-9d35-7a8e1c4b6f20",
        "detail-type": "Scheduled Event",
        "source": "aws.scheduler",
        "account": ACCOUNT,
        "time": "2026-11-21T03:04:00Z",
        "region": REGION,
        "resources": [f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/default/{schedule}"],
        "detail": "{}",
    }


def object_created_event(file: Path) -> Event:
    """The event from EventBridge for a file that was put into the bucket, under the name of its table."""
    content = file.read_bytes()
    return {
        "version": "0",
        "id": "5d2f7c81-94e3-4b06-8a1d-3c7e9f0b6a52",
        "detail-type": "Object Created",
        "source": "aws.s3",
        "account": ACCOUNT,
        "time": "2026-11-21T09:31:07Z",
        "region": REGION,
        "resources": [f"arn:aws:s3:::{BUCKET}"],
        "detail": {
            "version": "0",
            "bucket": {"name": BUCKET},
            "object": {
                "key": f"{file.stem}/{file.name}",
                "size": len(content),
                "etag": hashlib.md5(content, usedforsecurity=False).hexdigest(),
                "sequencer": "0069202F6B3A51C2E8",
            },
            "request-id": "N4N7GDK58NMKJ12R",
            "requester": ACCOUNT,
            "source-ip-address": "203.0.113.24",
            "reason": "PutObject",
        },
    }


def queued_event(body: Event) -> Event:
    """The input of a function from a queue in order with this message."""
    text = json.dumps(body)
    return {
        "Records": [
            {
                "messageId": "2b8f61d4-70c5-4a19-9d3e-6f1a0c4b8e25",
                "receiptHandle": "AQEBexample",
                "body": text,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1795253467000",
                    "SequenceNumber": "18849496460467696128",
                    "MessageGroupId": "loads",
                    "SenderId": "AIDAEXAMPLE",
                    "MessageDeduplicationId": hashlib.sha256(text.encode()).hexdigest(),
                    "ApproximateFirstReceiveTimestamp": "1795253467010",
                },
                "messageAttributes": {},
                "md5OfBody": hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:quarry-{STAGE}-Loads-example.fifo",
                "awsRegion": REGION,
            }
        ]
    }


@contextmanager
def _sample_database() -> Iterator[str]:
    """A new database with the sample data, without vectors."""
    with tempfile.TemporaryDirectory(prefix="quarry-events-") as directory:
        # readable by the user that the server runs as if this runs as root
        Path(directory).chmod(0o755)
        with EmbeddedPostgres(Path(directory) / "postgres", parameters={"fsync": "off"}) as server:
            url = server.start()
            migrate(url, embedding_dimensions=LOCAL_EMBEDDING_DIMENSIONS)
            asyncio.run(_load_sample(url))
            forget_vectors(url)
            yield url


async def _load_sample(url: str) -> None:
    database, model = Database(url, pool_size=1, timeout_seconds=60), LocalEmbedding()
    await load_sample(database, url, model)
    await model.close()
    await database.close()


def _record(recorded: RecordedEvent, function: EmulatedFunction) -> None:
    result = function.invoke_json(recorded.event)
    if not recorded.is_request:
        _write(recorded.path.with_suffix(RESPONSE), pretty(result))
        return
    answer = Answer.buffered(result)
    _write(recorded.path.with_suffix(STREAM if answer.is_stream else RESPONSE), answer.to_text())


def _write(path: Path, text: str) -> None:
    if path.exists() and comparable(path.read_text()) == comparable(text):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
