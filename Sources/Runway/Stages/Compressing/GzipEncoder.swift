import RunwayZlib

/// Compresses bytes to gzip (RFC 1952) in parts.
package final class GzipEncoder {
    /// The maximum number of bytes that zlib returns at once.
    private static let partByteCount = 1 << 15

    private let deflater: OpaquePointer

    /// Creates an encoder, or returns `nil` if there is not enough memory.
    package init?(level: Int) {
        // 15 selects the largest window, 32 KiB. Adding 16 selects the gzip format.
        guard let deflater = runway_deflater_create(CInt(max(1, min(9, level))), 15 + 16) else { return nil }
        self.deflater = deflater
    }

    deinit { runway_deflater_destroy(deflater) }

    /// Compresses bytes and returns the output that is available. After the last part, returns all remaining output.
    package func encode(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        var rest = bytes[...]
        while true {
            let part = deflated(&rest, isLast: isLast)
            encoded += part
            if part.count < Self.partByteCount { return encoded }
        }
    }

    private func deflated(_ rest: inout ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
        var used = 0
        let part = [UInt8](unsafeUninitializedCapacity: Self.partByteCount) { output, count in
            guard let room = output.baseAddress else { return }
            rest.withUnsafeBufferPointer { input in
                runway_deflater_run(
                    deflater, input.baseAddress, input.count, isLast ? 1 : 0, &used, room, output.count, &count)
            }
        }
        rest = rest.dropFirst(used)
        return part
    }
}
