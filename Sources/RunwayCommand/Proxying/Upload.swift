import HTTPTypes
import HummingbirdCore
import NIOCore
import Runway
import Synchronization

/// The body of a client's request on its way to the origin.
final class Upload: Sendable {
    private let incoming: HummingbirdCore.Request
    /// Guards whether all of the body was read.
    private let hasEnded: Mutex<Bool>
    /// The length that the request names.
    private let byteCount: Int?

    init(_ incoming: HummingbirdCore.Request) {
        self.incoming = incoming
        byteCount = incoming.headers[.contentLength].flatMap { Int($0) }
        hasEnded = Mutex((byteCount ?? 0) == 0 && incoming.headers[.transferEncoding] == nil)
    }

    /// Whether all of it was read.
    var isAtEnd: Bool { hasEnded.withLock { $0 } }

    /// The body for the layer: buffered if it is short, so that it can be sent again, and otherwise streamed.
    ///
    /// - Throws: An error of the client's framing.
    func body(gatheredUpTo maximumByteCount: Int) async throws -> Runway.RequestBody {
        if isAtEnd { return .none }
        if let byteCount, byteCount <= maximumByteCount {
            let bytes = Array(buffer: try await incoming.body.collect(upTo: maximumByteCount))
            hasEnded.withLock { $0 = true }
            return .bytes(bytes)
        }
        let stream = BodyStream { [self] in
            var parts = incoming.body.makeAsyncIterator()
            return { [self] in
                let part = try await parts.next(isolation: #isolation)
                if part == nil { hasEnded.withLock { $0 = true } }
                return part.map { Array(buffer: $0) }
            }
        }
        return .stream(stream, byteCount: byteCount, isReplayable: false)
    }
}
