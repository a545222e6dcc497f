/// The stages that every request of a layer passes, from the caller down: those of its ``RequestPipeline``, made for the layer.
struct StageChain: Sendable {
    /// The stages, from the caller down.
    let stages: [any RequestStage]

    /// Returns the response that a stage has without waiting; `nil` if the request has to be sent.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> Response? {
        for stage in stages {
            let found: ImmediateResponse
            do throws(NetworkError) {
                found = try stage.respondImmediately(&draft, in: flight)
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
            case .pass: continue
            case .wait: return nil
            }
        }
        return nil
    }

    /// Sends a request through all stages to the transport.
    func send(
        _ request: Request, in flight: Flight, over transport: any Transport
    ) async throws(NetworkError) -> Response {
        try await RequestPipeline.Rest(stages: stages[...], transport: transport).send(request, in: flight)
    }
}

extension RequestPipeline {
    /// The part of the pipeline below a stage.
    public struct Rest: Sendable {
        let stages: ArraySlice<any RequestStage>
        let transport: any Transport

        /// Whether everything below ends by itself when the deadline passes or the task is cancelled.
        func endsInTime(_ request: Request, in flight: Flight) -> Bool {
            for stage in stages {
                if stage.detaches(request, in: flight) { return true }
                if !stage.endsInTime { return false }
            }
            return transport.endsInTime(request)
        }

        /// Sends a request through the stages below and returns the response.
        ///
        /// - Throws: The error of the stage or transport that failed.
        public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            guard let stage = stages.first else { return try await sendToTransport(request, in: flight) }
            return try await stage.respond(
                to: request, in: flight, next: Rest(stages: stages.dropFirst(), transport: transport))
        }

        /// Passes the request to the transport and records the attempt.
        private func sendToTransport(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            // A request that was cancelled before it was sent never reaches the transport.
            if Task.isCancelled { throw .cancelled(in: .transporting) }
            if flight.isEndedEarly { throw flight.earlyEnd(in: .transporting, sending: .notSent) }
            let index = flight.recorder.beginAttempt(request)
            var request = request
            request.attempt = index
            request.hedgedAttempt?.begin(as: index)
            let attempt = WireAttempt(
                index: index, sequenceNumber: flight.context.cache.nextSequenceNumber(), start: flight.clock.now)
            do {
                var response = try await transport.send(request, in: flight)
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
