import Synchronization

/// A request that flies because nothing that is kept answers it, and what its answer leads to.
///
/// Where calls share a request, the one that carries it looks once more before it leaves, and keeps the answer before anyone is told of
/// it. So whoever asks finds the request under way or its answer kept, and no moment between them in which there is neither.
final class HTTPFetch: Sendable {
    /// The request as it was looked up, without the validators of what is kept.
    let request: Request
    /// What is validated, the one to prefer first.
    let candidates: [StoredResponse]
    let flight: Flight
    /// The place in the order of requests, for an answer that no transport gave.
    let ticket: UInt64
    /// When the request was passed on, likewise.
    let requested: Duration
    /// Guards what the answer to the shared request led to, until the call takes it.
    private let settled = Mutex<Response?>(nil)

    init(_ request: Request, validating candidates: [StoredResponse], in flight: Flight) {
        self.request = request
        self.candidates = candidates
        self.flight = flight
        ticket = flight.layer.cache.http.takeTicket()
        requested = flight.clock.now
    }

    /// The answer that another call has kept since this one looked; `nil` where there is none.
    var answerKept: Response? { HTTPCaching().answerKept(to: request, in: flight) }

    /// Keeps what the shared request brought.
    func settle(_ response: Response) {
        guard response.source == .network, let answer = HTTPCaching().settle(response, of: self) else { return }
        settled.withLock { $0 = answer }
    }

    /// What the answer led to, where it was kept already. It is given once.
    func takeSettled() -> Response? {
        settled.withLock { settled in
            defer { settled = nil }
            return settled
        }
    }
}
