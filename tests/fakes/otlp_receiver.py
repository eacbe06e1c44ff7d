"""A receiver of traces on loopback that speaks OTLP over HTTP, like OpenTelemetry's collector."""

from __future__ import annotations

from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.fakes.http_fake import HttpFake


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it was sent; ids in hexadecimal, `parent` empty at the root."""

    name: str
    trace: str
    id: str
    parent: str
    kind: str
    attributes: dict[str, str | int]
    failed: bool


class OtlpReceiver(HttpFake):
    """Takes what is sent to `url`/v1/traces. `bodies` are the requests as they came."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.bodies: list[bytes] = []

    @property
    def services(self) -> set[str]:
        """The names of the services that spans came from."""
        return {
            attribute.value.string_value
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }

    @property
    def spans(self) -> list[ReceivedSpan]:
        return [
            _received(span)
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class _Handler(BaseHTTPRequestHandler):
    fake: OtlpReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_known = self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
        if is_known:
            self.fake.bodies.append(body)
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def _received(span: Span) -> ReceivedSpan:
    values = {each.key: each.value for each in span.attributes}
    return ReceivedSpan(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        attributes={key: value.string_value or value.int_value for key, value in values.items()},
        failed=span.status.code == Status.STATUS_CODE_ERROR,
    )
