import Dispatch
import NIOCore
import NIOSSL
import Synchronization

/// The TLS context of a transport: built once, early, on a thread of its own, and shared by all its connections.
///
/// Reading the roots of the system takes milliseconds. It begins when this value is made, so that the first dial finds the context
/// ready, or waits for it while TCP connects. There is no session resumption: NIOSSL has none for clients, so that a connection that
/// is kept is worth more than one that was made before.
final class TLSClient: Sendable {
    private enum State {
        case building([EventLoopPromise<NIOSSLContext>])
        case built(Result<NIOSSLContext, any Error>)
    }

    /// Guards the context and who waits for it.
    private let state = Mutex(State.building([]))

    /// Starts to build the context of a configuration.
    init(_ configuration: TLSConfiguration) {
        DispatchQueue.global(qos: .userInitiated).async {
            self.finish(Result { try NIOSSLContext(configuration: configuration) })
        }
    }

    /// The context, on this loop.
    func context(on eventLoop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
        state.withLock { state in
            switch state {
            case .built(let result): return eventLoop.makeCompletedFuture(result)
            case .building(var promises):
                let promise = eventLoop.makePromise(of: NIOSSLContext.self)
                promises.append(promise)
                state = .building(promises)
                return promise.futureResult
            }
        }
    }

    private func finish(_ result: Result<NIOSSLContext, any Error>) {
        let promises: [EventLoopPromise<NIOSSLContext>] = state.withLock { state in
            defer { state = .built(result) }
            if case .building(let promises) = state { return promises }
            return []
        }
        for promise in promises { promise.completeWith(result) }
    }
}
