import HTTPTypes

/// Asks the service for its verdict on every response, before any other stage sees the response.
///
/// The service receives a whole body together with the header fields. A streamed body passes unread, and the service
/// judges by the header fields only.
struct JudgingStage: RequestStage {
    var step: FlightStep { .judging }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        // A merged response has its own format, not the service's envelope. Its items are judged separately.
        let isUnread = flight.isEnvelope && response.head.status.kind == .successful
        response.judge(as: isUnread ? .fine : request.verdict(of: response, by: flight.service), in: flight)
        return response
    }
}
