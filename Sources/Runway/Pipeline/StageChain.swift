/// The stages that every request of a layer passes, from the caller down: created for the layer from its
/// ``RequestPipeline``.
struct StageChain: Sendable {
    /// The uppermost stage; `nil` if there is none.
    let first: StageLink?

    /// Links stages, which are listed from the caller down.
    init(_ stages: [any RequestStage]) { first = stages.reversed().reduce(nil) { StageLink($1, above: $0) } }

    /// Returns the response that a stage has without waiting; `nil` if the request has to be sent.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        var link = first
        while let current = link {
            let found: ImmediateResponse
            do throws(NetworkError) {
                found = try current.stage.respondImmediately(&draft, in: flight)
            } catch {
                // A call whose request can't be made reports that, and not that no response is stored for it.
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

/// One stage of a chain, and the stages below it. All calls share it, so that the lower stages are passed on as one
/// reference.
final class StageLink: Sendable {
    let stage: any RequestStage
    /// The stage below; `nil` if the transport is below.
    let next: StageLink?
    /// Whether this stage and all below it end in time, whatever the request.
    let endsInTime: Bool

    init(_ stage: any RequestStage, above next: StageLink?) {
        self.stage = stage
        self.next = next
        endsInTime = stage.endsInTime && next?.endsInTime ?? true
    }
}

/// The transport at the end of a chain.
final class TransportLink: Sendable {
    let transport: any Transport

    init(_ transport: any Transport) { self.transport = transport }
}

extension RequestPipeline {
    /// The part of the pipeline below a stage.
    public struct Rest: Sendable {
        /// The uppermost stage; `nil` if the transport is next.
        let first: StageLink?
        let end: TransportLink

        /// Whether everything below ends by itself when the deadline passes or the task is cancelled.
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

        /// Returns the part below the stage of a step; `nil` if no stage here is that.
        func below(_ step: FlightStep) -> Rest? {
            var link = first
            while let current = link, current.stage.step != step { link = current.next }
            return link.map { Rest(first: $0.next, end: end) }
        }

        /// Sends a request through the stages below and returns the response. Stages that do not handle the request are
        /// skipped.
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
            // A request that was cancelled before it was sent never reaches the transport.
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
                // A failure that an early end caused is no evidence about the host, and is not retried.
                let error =
                    flight.isEndedEarly ? flight.earlyEnd(in: .transporting, sending: error.sending) : error
                flight.recorder.endAttempt(index, failing: error.detail)
                throw error
            }
        }
    }
}
