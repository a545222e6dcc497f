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
        let verdict = isUnread ? .fine : request.verdict(of: response, by: flight.service)
        response.verdict = verdict
        flight.note(Judgement(status: response.head.status.code, verdict: verdict))
        return response
    }
}

extension Request {
    /// What the service says of an answer to this request.
    ///
    /// A 304 to a condition that a cache set has no envelope that could be read. What it says is good was judged when it came.
    func verdict(of response: Response, by service: any APIService.Type) -> Verdict {
        let rawData: RawData? = if case .whole(let rawData) = response.body { rawData } else { nil }
        let verdict = service.judge(response.head, rawData: rawData)
        if case .malformed = verdict, response.head.status == .notModified, ownConditions != nil { return .fine }
        return verdict
    }
}

/// The verdict of the service, for the record.
package struct Judgement: StageDecision, Equatable {
    /// The status of the response.
    package var status: Int
    /// What the service said.
    package var verdict: Verdict

    package static var step: FlightStep { .stage(.judging) }

    package var entry: DecisionEntry {
        .init("judged", ["status": status, "verdict": "\(verdict)"], "\(status) is \(verdict)")
    }
}
