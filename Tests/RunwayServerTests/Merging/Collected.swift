import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Keeps the body of an answer.
final class Collected: Sendable {
    /// Guards the bytes.
    private let kept = Mutex<[UInt8]>([])

    var bytes: [UInt8] { kept.withLock { $0 } }
    var writer: any ResponseBodyWriter { Writer(collected: self) }

    private struct Writer: ResponseBodyWriter {
        let collected: Collected

        mutating func write(_ buffer: ByteBuffer) async throws {
            collected.kept.withLock { $0 += buffer.readableBytesView }
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
