import HTTPTypes

/// Asks the service for its verdict on every response, just above the wire; all stages above act on it.
///
/// The service sees a whole body together with the head. A streamed body passes unread: the service judges by the head.
struct JudgingStage: RequestStage {
    var step: FlightStep { .judging }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        // An envelope of several responses is not the service's own; its items are judged one by one.
        let isUnread = flight.isEnvelope && response.head.status.kind == .successful
        response.judge(as: isUnread ? .fine : request.verdict(of: response, by: flight.service), in: flight)
        return response
    }
}
