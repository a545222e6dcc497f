import Runway
import Synchronization

/// The origins whose servers require HTTP/1.1 (RFC 9113 §7), and the dialer for these origins.
final class HTTP1Origins: Sendable {
    /// The maximum number of stored origins. Beyond it, the least recently used one is evicted.
    static let maximumCount = 256

    private let configuration: TransportConfiguration
    private let base: Dialer
    /// Guards the dialer, which is created for the first connection.
    private let ownDialer = Mutex<Dialer?>(nil)
    /// Guards the origins.
    private let origins = Mutex(
        LeastRecentlyUsed<Origin, Void>(maximumCount: maximumCount, maximumByteCount: .max))

    init(_ configuration: TransportConfiguration, _ dialer: Dialer) {
        self.configuration = configuration
        base = dialer
    }

    func contains(_ origin: Origin) -> Bool { origins.withLock { $0.change(origin) { _ in } != nil } }

    func insert(_ origin: Origin) { origins.withLock { $0.insert((), for: origin, byteCount: 0) } }

    /// Returns a dialer that offers only HTTP/1.1. If a server selected HTTP/2, no upgrade could be requested (RFC 9113
    /// §8.6).
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for a ``TrustPolicy`` that cannot be applied.
    func dialer() throws(NetworkError) -> Dialer {
        if !configuration.usesHTTP2 { return base }
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
