import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The number of response bytes that an envelope may still have.
final class ByteBudget: Sendable {
    /// Guards the remaining bytes.
    private let remaining: Mutex<Int>

    init(_ byteCount: Int) { remaining = Mutex(byteCount) }

    /// Takes bytes from the budget. Returns `false` and takes nothing if too few bytes remain.
    func take(_ byteCount: Int) -> Bool {
        remaining.withLock { remaining in
            guard byteCount <= remaining else { return false }
            remaining -= byteCount
            return true
        }
    }

    func giveBack(_ byteCount: Int) { remaining.withLock { $0 += byteCount } }
}

/// Collects the body of one response, up to the limit of the response and the limit of its envelope.
final class GatheredBody: Sendable {
    /// The body exceeds a limit.
    struct TooLarge: Error {}

    private let maximumByteCount: Int
    private let budget: ByteBudget
    /// Guards the collected bytes.
    private let written = Mutex<[UInt8]>([])

    init(upTo maximumByteCount: Int, within budget: ByteBudget) {
        self.maximumByteCount = maximumByteCount
        self.budget = budget
    }

    var bytes: [UInt8] { written.withLock { $0 } }

    /// Collects the whole body.
    ///
    /// - Throws: ``TooLarge``, or the error of the body.
    func gather(_ body: ResponseBody) async throws {
        do {
            try await body.write(Writer(body: self))
        } catch {
            budget.giveBack(bytes.count)
            throw error
        }
    }

    private func append(_ buffer: ByteBuffer) throws {
        try written.withLock { written in
            let byteCount = buffer.readableBytes
            guard written.count + byteCount <= maximumByteCount, budget.take(byteCount) else { throw TooLarge() }
            written += buffer.readableBytesView
        }
    }

    private struct Writer: ResponseBodyWriter {
        let body: GatheredBody

        mutating func write(_ buffer: ByteBuffer) async throws { try body.append(buffer) }

        // Trailers are discarded, since an envelope cannot contain them.
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
