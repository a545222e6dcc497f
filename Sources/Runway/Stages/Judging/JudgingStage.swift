import HTTPTypes

/// Lets the service read every answer just above the wire; all stages above act on its verdict.
///
/// A whole body is shown to the service with the head. A streamed body passes unread: the service judges by the head.
struct JudgingStage: RequestStage {
    var step: FlightStep { .stage(.judging) }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var response = try await next.send(request, in: flight)
        // An envelope of several answers is not the service's own; what is in it is judged one by one.
        let isUnread = flight.isEnvelope && response.head.status.kind == .successful
        response.judge(as: isUnread ? .fine : request.verdict(of: response, by: flight.service), in: flight)
        return response
    }
}
