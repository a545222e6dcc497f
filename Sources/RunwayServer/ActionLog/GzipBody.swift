import RunwayZlib

/// The result of decompressing a request body with gzip.
package enum GzipBody {
    case decoded([UInt8])
    case tooLarge
    case malformed

    /// Decompresses a body that is one gzip member (RFC 1952), up to `maximumByteCount` bytes.
    package static func decode(_ bytes: [UInt8], upTo maximumByteCount: Int) -> GzipBody {
        // 15 is the largest window size; adding 16 selects the gzip format.
        guard let inflater = runway_inflater_create(15 + 16) else { return .tooLarge }
        defer { runway_inflater_destroy(inflater) }
        var decoded: [UInt8] = []
        var rest = bytes[...]
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var (used, count) = (0, 0)
            let status = rest.withUnsafeBufferPointer { input in
                runway_inflater_run(inflater, input.baseAddress, input.count, &used, &part, part.count, &count)
            }
            decoded += part.prefix(count)
            rest = rest.dropFirst(used)
            if decoded.count > maximumByteCount { return .tooLarge }
            switch status {
            case RUNWAY_INFLATE_ENDED: return rest.isEmpty ? .decoded(decoded) : .malformed
            case RUNWAY_INFLATE_GOES_ON where used > 0 || count > 0: continue
            default: return .malformed
            }
        }
    }
}
