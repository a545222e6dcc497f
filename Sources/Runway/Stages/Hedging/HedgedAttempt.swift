public import HTTPTypes
import Synchronization

/// One of the attempts of a hedged request. It goes down with the request, so that the wire can tell of it and knows what it is.
package final class HedgedAttempt: Sendable {
    private struct State {
        var index: Int?
        var isOutrun = false
    }

    /// Which of the two it is. The second is best sent to another address than the first.
    package let contender: Hedge.Contender
    private let onHead: @Sendable (HTTPResponse.Status) -> Void
    /// Guards which record is its own, and whether the other one was answered first.
    private let state = Mutex(State())

    init(_ contender: Hedge.Contender, onHead: @escaping @Sendable (HTTPResponse.Status) -> Void) {
        self.contender = contender
        self.onHead = onHead
    }

    /// Whether it was called off because the other one was answered first.
    package var isOutrun: Bool { state.withLock { $0.isOutrun } }

    /// The index of the attempt in the record of the call; `nil` before it went to the transport.
    var index: Int? { state.withLock { $0.index } }

    func begin(as index: Int) { state.withLock { $0.index = index } }

    func noteOutrun() { state.withLock { $0.isOutrun = true } }

    func headCame(_ status: HTTPResponse.Status) { onHead(status) }
}

extension Request {
    /// Which of the attempts of a hedged request this is; `nil` for all other requests.
    package internal(set) var hedgedAttempt: HedgedAttempt? {
        get { values[HedgedAttempt.self] }
        set { values[HedgedAttempt.self] = newValue }
    }

    /// Says that the head of the final answer came. For transports, which may call it on any thread, as soon as they know.
    ///
    /// A read that is hedged is taken to be unanswered until then; see ``HedgingPolicy``. Where a transport does not call it, until the
    /// transport gives the answer.
    public func noteHead(_ status: HTTPResponse.Status) { hedgedAttempt?.headCame(status) }
}

extension HedgedAttempt: StageValueKey {
    static var defaultValue: HedgedAttempt? { nil }
}
