import Dispatch
import NIOCore
import Runway
import Synchronization

/// The TLS policy of a transport. It is prepared early, once, on its own thread, and shared by all connections.
///
/// The preparation starts when this value is created, so that the policy is ready at the first dial, or soon after TCP
/// has connected. Reading all roots of the system takes longer than anything else before a first call. If the system
/// stores each root in a file named after its subject, only the needed roots are read; all are read if a server's root
/// was not found, see ``readAllRoots()``. Sessions are not resumed, since NIOSSL does not support resumption for
/// clients.
final class TLSPreparation: Sendable {
    typealias Make = @Sendable () throws -> TLSPolicy

    private struct State {
        /// The policy or the error of creating it; `nil` while it is being created.
        var policy: Result<TLSPolicy, any Error>?
        var waiting: [EventLoopPromise<TLSPolicy>] = []
        /// Creates the policy with all roots; `nil` after its only call, or if the first policy has all roots.
        var makeWithAllRoots: Make?
    }

    /// Guards the policy and its waiters.
    private let state: Mutex<State>

    /// Validates a policy and starts to create its TLS contexts.
    ///
    /// - Parameters:
    ///   - policy: The trusted authorities, pins and identities.
    ///   - applicationProtocols: The protocols that ALPN offers (RFC 7301), such as `h2` and `http/1.1`.
    ///   - clock: Decides whether pins have expired.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`.
    convenience init(
        _ policy: TrustPolicy, applicationProtocols: [String], clock: LayerClock = .system
    ) throws(NetworkError) {
        let material = try TrustMaterial(policy)
        let make: @Sendable (String?) throws -> TLSPolicy = { folder in
            try TLSPolicy(material, applicationProtocols: applicationProtocols, rootsFrom: folder, clock: clock)
        }
        self.init(making: { try make(material.rootsFolder) }, withAllRoots: { try make(nil) })
    }

    /// Starts to create a policy.
    ///
    /// - Parameter makeWithAllRoots: Creates the policy that replaces the first one if a server's root was not found.
    ///   The default, `nil`, means that the first policy has all roots.
    init(making make: @escaping Make, withAllRoots makeWithAllRoots: Make? = nil) {
        state = Mutex(State(makeWithAllRoots: makeWithAllRoots))
        start(make)
    }

    /// Returns the policy on an event loop.
    func policy(on eventLoop: any EventLoop) -> EventLoopFuture<TLSPolicy> {
        state.withLock { state in
            if let policy = state.policy { return eventLoop.makeCompletedFuture(policy) }
            let promise = eventLoop.makePromise(of: TLSPolicy.self)
            state.waiting.append(promise)
            return promise.futureResult
        }
    }

    /// Starts to create the policy again with all roots of the system; ``policy(on:)`` waits for the new policy from
    /// now on. If creating it fails, the previous policy stays in use, and the next call retries.
    func readAllRoots() {
        let begun: (make: Make, last: Result<TLSPolicy, any Error>)? = state.withLock { state in
            guard let last = state.policy, let make = state.makeWithAllRoots.take() else { return nil }
            state.policy = nil
            return (make, last)
        }
        guard let (make, last) = begun else { return }
        start {
            do {
                return try make()
            } catch {
                self.state.withLock { $0.makeWithAllRoots = make }
                return try last.get()
            }
        }
    }

    private func start(_ make: @escaping Make) {
        DispatchQueue.global(qos: .userInitiated).async { self.finish(Result(catching: make)) }
    }

    private func finish(_ result: Result<TLSPolicy, any Error>) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.policy = result
            return state.waiting
        }
        for promise in waiting { promise.completeWith(result) }
    }
}
