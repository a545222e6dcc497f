import NIOCore

@testable import Runway
@testable import RunwayTransport

/// Coded bodies: the same comes out whatever pieces they come in, no more than the bounds let, and what was coded here is undone.
enum CodingFuzz {
    static func run(_ input: FuzzInput) {
        let coding = input.isOn(0) ? ContentCoding.deflate : .gzip
        let wide = ContentDecoder.Limits(maximumByteCount: 8 << 20, maximumRatio: .max)
        let whole = decode(input.whole, coding, wide)
        check(decode(input.pieces, coding, wide) == whole, "something else comes out in pieces")
        if input.bytes.count <= 512 {
            check(decode(input.single, coding, wide) == whole, "something else comes out byte by byte")
        }
        let narrow = ContentDecoder.Limits(maximumByteCount: 100_000, maximumRatio: 4, freeByteCount: 1000)
        _ = decode(input.pieces, coding, narrow)
        checkRoundTrip(input)
    }

    private struct Decoded: Equatable {
        var bytes: [UInt8] = []
        var failure: ContentDecoder.Failure?
    }

    private static func decode(
        _ pieces: [ArraySlice<UInt8>], _ coding: ContentCoding, _ limits: ContentDecoder.Limits
    ) -> Decoded {
        var decoded = Decoded()
        do throws(ContentDecoder.Failure) {
            let decoder = try ContentDecoder(coding, limits: limits)
            var came = 0
            for piece in pieces {
                came += piece.count
                decoder.push(ByteBuffer(bytes: piece))
                while let part = try decoder.pull() {
                    check(!part.isEmpty && part.count <= ContentDecoder.partByteCount, "a part of another size")
                    decoded.bytes += part
                    check(decoded.bytes.count <= limits.maximumByteCount, "more comes out than may")
                    let isFree = decoded.bytes.count <= limits.freeByteCount
                    check(
                        isFree || decoded.bytes.count / limits.maximumRatio <= came, "it grows more than it may")
                }
            }
            try decoder.finish()
        } catch {
            // What came out before is of no use to anybody, and differs with the pieces.
            decoded = Decoded(failure: error)
        }
        return decoded
    }

    private static func checkRoundTrip(_ input: FuzzInput) {
        guard let encoder = GzipEncoder(level: 1) else { return }
        let pieces = input.pieces
        var coded: [UInt8] = []
        for piece in pieces { coded += encoder.encode(Array(piece), isLast: false) }
        coded += encoder.encode([], isLast: true)
        let limits = ContentDecoder.Limits(maximumByteCount: 8 << 20, maximumRatio: .max)
        let decoded = decode([coded[...]], .gzip, limits)
        check(decoded == Decoded(bytes: input.bytes), "what was coded is not undone")
    }
}
