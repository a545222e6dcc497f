import Foundation
import HTTPTypes
import Synchronization

/// The cookies of a layer, in a separate jar for each service and account.
final class CookieJars: Sendable {
    /// The maximum number of jars. The least recently used jar is evicted first.
    static let maximumCount = 64

    struct Owner: Hashable, Sendable {
        let service: ObjectIdentifier
        let account: String?

        init(service: any APIService.Type, account: String?) {
            self.service = ObjectIdentifier(service)
            self.account = account
        }
    }

    private struct Jar {
        var store: CookieStore
        var lastUse: UInt64 = 0
    }

    private struct State {
        var jars: [Owner: Jar] = [:]
        var counter: UInt64 = 0
    }

    /// The public suffixes, used for services that declare no domains.
    let suffixes = PublicSuffixes()
    /// Guards the jars.
    private let state = Mutex(State())

    /// Reads or changes one jar. Creates it if necessary.
    func withJar<Value: Sendable>(of owner: Owner, _ body: (inout CookieStore) -> Value) -> Value {
        state.withLock { state in
            state.counter += 1
            // A new jar continues the versions of earlier jars, so that no version occurs twice.
            var jar = state.jars[owner] ?? Jar(store: CookieStore(changeCount: state.counter))
            jar.lastUse = state.counter
            let value = body(&jar.store)
            state.counter = max(state.counter, jar.store.version)
            state.jars[owner] = jar
            if state.jars.count > Self.maximumCount,
                let oldest = state.jars.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.jars[oldest.key] = nil
            }
            return value
        }
    }

    /// Reads or changes the jar of a call. Does nothing and returns `nil` if the account has signed out since the call
    /// was made.
    func withJar<Value: Sendable>(of flight: Flight, _ body: (inout CookieStore) -> Value) -> Value? {
        let owner = Owner(service: flight.service, account: flight.account)
        return withJar(of: owner) { flight.session.isOver ? nil : body(&$0) }
    }
}
