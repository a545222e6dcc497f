import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Collects the body of a response.
final class Collected: Sendable {
    /// Guards the bytes.
    private let received = Mutex<[UInt8]>([])

    var bytes: [UInt8] { received.withLock { $0 } }
    var writer: any ResponseBodyWriter { Writer(collected: self) }

    private struct Writer: ResponseBodyWriter {
        let collected: Collected

        mutating func write(_ buffer: ByteBuffer) async throws {
            collected.received.withLock { $0 += buffer.readableBytesView }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
