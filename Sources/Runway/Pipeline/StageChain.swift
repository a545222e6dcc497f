/// The stages that every request of a layer passes, from the caller to the transport. It is created from the layer's
/// ``RequestPipeline``.
struct StageChain: Sendable {
    /// The first stage; `nil` if the pipeline is empty.
    let first: StageLink?

    /// Links stages that are listed from the caller to the transport.
    init(_ stages: [any RequestStage]) { first = stages.reversed().reduce(nil) { StageLink($1, above: $0) } }

    /// Returns a response that a stage can supply without waiting, or `nil` if the request must be sent.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        var link = first
        while let current = link {
            let found: ImmediateResponse
            do throws(NetworkError) {
                found = try current.stage.respondImmediately(&draft, in: flight)
            } catch {
                // If the request can't be created, the reason is more useful than the error that no response is stored.
                _ = try draft.request(in: flight)
                throw error
            }
            switch found {
            case .response(let response): return response
            case .provisional(var response):
                response.isProvisional = true
                return response
            case .pass: link = current.next
            case .wait: return nil
            }
        }
        return nil
    }

    /// Sends a request through all stages to the transport.
    func send(_ request: Request, in flight: Flight, over end: TransportLink) async throws(NetworkError) -> Response {
        try await RequestPipeline.Rest(first: first, end: end).send(request, in: flight)
    }
}

/// One stage of a chain, linked to the next. All calls share the links, so the rest of the chain is passed on as one
/// reference.
final class StageLink: Sendable {
    let stage: any RequestStage
    /// The next stage; `nil` if the transport comes next.
    let next: StageLink?
    /// Whether this and all later stages end by themselves at the deadline and at a cancellation, whatever the request.
    let endsInTime: Bool

    init(_ stage: any RequestStage, above next: StageLink?) {
        self.stage = stage
        self.next = next
        endsInTime = stage.endsInTime && next?.endsInTime ?? true
    }
}

final class TransportLink: Sendable {
    let transport: any Transport

    init(_ transport: any Transport) { self.transport = transport }
}

extension RequestPipeline {
    /// The rest of the pipeline after a stage, including the transport.
    public struct Rest: Sendable {
        /// The next stage; `nil` if the transport comes next.
        let first: StageLink?
        let end: TransportLink

        /// Returns whether the rest of the pipeline ends by itself when the deadline passes or the task is cancelled.
        func endsInTime(_ request: Request, in flight: Flight) -> Bool {
            let doesTransport = end.transport.endsInTime(request)
            if doesTransport, first?.endsInTime ?? true { return true }
            var link = first
            while let current = link {
                if current.stage.detaches(request, in: flight) { return true }
                if !current.stage.endsInTime { return false }
                link = current.next
            }
            return doesTransport
        }

        /// Returns the pipeline after the stage whose step is `step`, or `nil` if the rest contains no such stage.
        func below(_ step: FlightStep) -> Rest? {
            var link = first
            while let current = link, current.stage.step != step { link = current.next }
            return link.map { Rest(first: $0.next, end: end) }
        }

        /// Sends a request through the remaining stages and returns the response. Stages that do not handle the request
        /// are skipped.
        ///
        /// - Throws: The error of the stage or transport that failed.
        public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            var link = first
            while let current = link {
                if current.stage.handles(request, in: flight) {
                    return try await current.stage.respond(
                        to: request, in: flight, next: Rest(first: current.next, end: end))
                }
                link = current.next
            }
            return try await sendToTransport(request, in: flight)
        }

        /// Passes the request to the transport and records the attempt.
        private func sendToTransport(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            // A request that was cancelled before it was sent must not reach the transport.
            if Task.isCancelled { throw .cancelled(in: .transporting) }
            if flight.isEndedEarly { throw flight.earlyEnd(in: .transporting, sending: .notSent) }
            let start = flight.clock.now
            let index = flight.recorder.beginAttempt(request, at: start)
            var request = request
            request.attempt = index
            request.hedgedAttempt?.begin(as: index)
            let attempt = WireAttempt(
                index: index, sequenceNumber: flight.context.cache.nextSequenceNumber(), start: start)
            do {
                var response = try await end.transport.send(request, in: flight)
                response.attempt = attempt
                flight.recorder.endAttempt(index, with: response)
                try response.checkHead(in: flight)
                return response
            } catch {
                // If the call was ended early, its failure says nothing about the host and must not be retried.
                let error =
                    flight.isEndedEarly ? flight.earlyEnd(in: .transporting, sending: error.sending) : error
                flight.recorder.endAttempt(index, failing: error.detail)
                throw error
            }
        }
    }
}
