import Runway
import Synchronization

/// The origins whose servers require HTTP/1.1 (RFC 9113 §7), and the dialer for them.
final class HTTP1Origins: Sendable {
    /// The most origins that are remembered; the least recently used is forgotten first.
    static let maximumCount = 256

    private let configuration: TransportConfiguration
    private let base: Dialer
    /// Guards the dialer, which is made for the first connection.
    private let ownDialer = Mutex<Dialer?>(nil)
    /// Guards the origins.
    private let origins = Mutex(
        LeastRecentlyUsed<Origin, Void>(maximumCount: maximumCount, maximumByteCount: .max))

    init(_ configuration: TransportConfiguration, _ dialer: Dialer) {
        self.configuration = configuration
        base = dialer
    }

    /// Whether the server of an origin requires HTTP/1.1.
    func contains(_ origin: Origin) -> Bool { origins.withLock { $0.change(origin) { _ in } != nil } }

    /// Notes that the server of an origin requires HTTP/1.1.
    func insert(_ origin: Origin) { origins.withLock { $0.insert((), for: origin, byteCount: 0) } }

    /// Returns a dialer that only offers HTTP/1.1. A server that chose HTTP/2 could not be asked for an upgrade either
    /// (RFC 9113 §8.6).
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for a ``TrustPolicy`` that can't be applied.
    func dialer() throws(NetworkError) -> Dialer {
        if case .http1Only = configuration.httpVersions { return base }
        let result: Result<Dialer, NetworkError> = ownDialer.withLock { own in
            if let own { return .success(own) }
            return Result { () throws(NetworkError) in
                let made = try base.offeringHTTP1Alone(configuration)
                own = made
                return made
            }
        }
        return try result.get()
    }
}
