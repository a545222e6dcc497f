public import HTTPTypes
import Synchronization

/// One of the two attempts of a hedged request. The request carries this object, so that the transport knows which
/// attempt it sends and can report to the attempt.
package final class HedgedAttempt: Sendable {
    private struct State {
        var index: Int?
        var hasLost = false
    }

    /// Whether this is the first or the second attempt. The second should be sent to another address than the first.
    package let contender: HedgeDecision.Contender
    private let onHead: @Sendable (HTTPResponse.Status) -> Void
    /// Guards the index of the attempt's record, and whether the other attempt won.
    private let state = Mutex(State())

    init(_ contender: HedgeDecision.Contender, onHead: @escaping @Sendable (HTTPResponse.Status) -> Void) {
        self.contender = contender
        self.onHead = onHead
    }

    /// Whether the attempt was cancelled because the other attempt received its response first.
    package var hasLost: Bool { state.withLock { $0.hasLost } }

    /// The index of the attempt in the record of the call; `nil` until the attempt is passed to the transport.
    var index: Int? { state.withLock { $0.index } }

    func begin(as index: Int) { state.withLock { $0.index = index } }

    func noteLoss() { state.withLock { $0.hasLost = true } }

    func headReceived(_ status: HTTPResponse.Status) { onHead(status) }
}

extension Request {
    /// The hedged attempt that this request makes; `nil` if the request is not hedged.
    package internal(set) var hedgedAttempt: HedgedAttempt? {
        get { values[HedgedAttempt.self] }
        set { values[HedgedAttempt.self] = newValue }
    }

    /// Reports that the status and header fields of the final response were received. Transports should call the
    /// function as soon as possible, on any thread.
    ///
    /// Until then, a hedged read counts as without a response; see ``HedgingPolicy``. If a transport never calls the
    /// function, the response counts as received when the transport returns it.
    public func noteHead(_ status: HTTPResponse.Status) { hedgedAttempt?.headReceived(status) }
}

extension HedgedAttempt: StageValueKey {
    static var defaultValue: HedgedAttempt? { nil }
}
