"""A collector of OpenTelemetry on loopback, which reads what it is sent with the official messages."""

from contextlib import contextmanager

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.loopback import Answer, serving


class Collector:
    """What came in, in order; `status` is what it answers."""

    def __init__(self):
        self.status = 200
        self.server = None

    @property
    def url(self):
        return self.server.url

    def answer(self, _asked):
        return Answer(self.status)

    def spans(self):
        """The spans of all requests that were taken."""
        found = []
        for asked in self.server.asked:
            assert (asked.method, asked.path) == ("POST", "/v1/traces")
            message = ExportTraceServiceRequest.FromString(asked.body)
            found += [
                span
                for resource in message.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]
        return found


@contextmanager
def collecting():
    """Run a collector."""
    collector = Collector()
    with serving(collector.answer) as collector.server:
        yield collector
