import Dispatch
import NIOCore
import Runway
import Synchronization

/// The TLS of a transport: made once, early, on a thread of its own, and shared by all its connections.
///
/// Reading the roots of the system takes milliseconds. It begins when this value is made, so that the first dial finds the policy
/// ready, or waits for it while TCP connects. There is no session resumption: NIOSSL has none for clients, so that a connection that
/// is kept is worth more than one that was made before.
final class TLSPreparation: Sendable {
    private enum State {
        case preparing([EventLoopPromise<TLSPolicy>])
        case prepared(Result<TLSPolicy, any Error>)
    }

    /// Guards the policy and who waits for it.
    private let state = Mutex(State.preparing([]))

    /// Checks a policy, and starts to make its contexts.
    ///
    /// - Parameters:
    ///   - policy: Whom to trust.
    ///   - applicationProtocols: What is offered by ALPN (RFC 7301), such as `h2` and `http/1.1`.
    ///   - clock: Says whether pins have expired.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`.
    convenience init(
        _ policy: TrustPolicy, applicationProtocols: [String], clock: LayerClock = .system
    ) throws(NetworkError) {
        let material = try TrustMaterial(policy)
        self.init { try TLSPolicy(material, applicationProtocols: applicationProtocols, clock: clock) }
    }

    /// Starts to make a policy, once.
    init(making make: @escaping @Sendable () throws -> TLSPolicy) {
        DispatchQueue.global(qos: .userInitiated).async { self.finish(Result(catching: make)) }
    }

    /// The policy, on this loop.
    func policy(on eventLoop: any EventLoop) -> EventLoopFuture<TLSPolicy> {
        state.withLock { state in
            switch state {
            case .prepared(let result): return eventLoop.makeCompletedFuture(result)
            case .preparing(var promises):
                let promise = eventLoop.makePromise(of: TLSPolicy.self)
                promises.append(promise)
                state = .preparing(promises)
                return promise.futureResult
            }
        }
    }

    private func finish(_ result: Result<TLSPolicy, any Error>) {
        let promises: [EventLoopPromise<TLSPolicy>] = state.withLock { state in
            defer { state = .prepared(result) }
            if case .preparing(let promises) = state { return promises }
            return []
        }
        for promise in promises { promise.completeWith(result) }
    }
}
