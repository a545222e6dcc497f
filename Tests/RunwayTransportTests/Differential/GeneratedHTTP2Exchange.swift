import HTTPTypes
import RunwayTesting

/// An exchange over HTTP/2 that a seed makes up: a request, and what the server sends when all of it has come.
struct GeneratedHTTP2Exchange: CustomStringConvertible {
    /// How a response ends.
    enum Ending: Sendable {
        /// With its last frame, which is the head where there is no content.
        case lastFrame
        /// With an empty frame of its own.
        case emptyFrame
        /// With trailers.
        case trailers
        /// Before its end, after so many frames, with a code (RFC 9113 §7).
        case reset(after: Int, code: Int)
    }

    let request: GeneratedRequest
    private let status: HTTPResponse.Status
    private var fields: [(String, String)] = []
    private var pieces: [[UInt8]] = []
    private let ending: Ending
    /// Whether a response of status 103 comes first.
    private let isInformed: Bool
    /// Whether the server says that it takes no further request over the connection.
    private let goesAway: Bool

    init(using random: inout SeededGenerator) {
        var request = GeneratedRequest(using: &random)
        let status: HTTPResponse.Status = random.pick([
            .ok, .ok, .ok, .created, .noContent, .partialContent, .notModified, .badRequest, .notFound,
            .internalServerError, .init(code: 299), .init(code: 599),
        ])
        isInformed = Int.random(in: 0..<10, using: &random) == 0
        let isBodiless = request.method == .head || status == .noContent || status == .notModified
        let isBroken = !isBodiless && Int.random(in: 0..<10, using: &random) == 0
        goesAway = !isBroken && Int.random(in: 0..<10, using: &random) == 0
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            fields.append(
                random.pick([
                    ("set-cookie", "a=1"), ("set-cookie", "b=2; Path=/"), ("etag", "\"x\""), ("x-empty", ""),
                    ("x-spaces", "a  b"), ("x-long", String(repeating: "v", count: 3000)),
                ]))
        }
        if !isBodiless, Int.random(in: 0..<8, using: &random) == 0 {
            fields.append(("content-encoding", "gzip"))
            pieces = [Coded.gzip]
        } else if !isBodiless {
            pieces = (0..<random.pick([0, 1, 1, 2, 5])).map { _ in
                random.bytes(random.pick([1, 17, 4096, 16_384, 65_536, 100_001]))
            }
        }
        let byteCount = pieces.reduce(0) { $0 + $1.count }
        // Of a response whose head is all there is the peer makes up that its length is 0, unless it is said.
        if status != .noContent, byteCount == 0 || Bool.random(using: &random) {
            fields.append(("content-length", String(byteCount)))
        }
        if isBroken {
            let frameCount = byteCount / 16_384 + 1
            ending = .reset(after: Int.random(in: 0...frameCount, using: &random), code: random.pick([2, 8]))
            // How much of a torn response is seen, its head included, is a matter of time.
            request.isStreamed = false
        } else {
            ending = random.pick([.lastFrame, .lastFrame, .emptyFrame, .trailers])
        }
        self.request = request
        self.status = status
    }

    /// Whether the server breaks its response off.
    var isBroken: Bool { if case .reset = ending { true } else { false } }

    /// Whether the response is none to a request without conditions, of which only some have any.
    var isNotModified: Bool { status == .notModified }

    /// What the server sends on a stream.
    func frames(on stream: Int) -> [RawFrame] {
        var frames: [RawFrame] = []
        if goesAway { frames.append(.goAway(last: stream)) }
        if isInformed { frames.append(.headers(stream, rawBlock([(":status", "103"), ("link", "</a.css>")]))) }
        frames.append(.headers(stream, rawBlock([(":status", String(status.code))] + fields)))
        for piece in pieces {
            for start in stride(from: 0, to: piece.count, by: 16_384) {
                frames.append(RawFrame(.data, stream: stream, Array(piece[start..<min(start + 16_384, piece.count)])))
            }
        }
        switch ending {
        case .lastFrame: frames[frames.count - 1].flags |= RawFrame.endStream
        case .emptyFrame: frames.append(.data(stream, ""))
        case .trailers: frames.append(.headers(stream, rawBlock([("x-checksum", "1")]), isLast: true))
        case .reset(let count, let code): frames = Array(frames.prefix(count)) + [.reset(stream, code)]
        }
        return frames
    }

    var description: String {
        "\(request), response: \(status.code) \(fields), pieces \(pieces.map(\.count)), ending \(ending), "
            + "\(isInformed ? "informed" : "not informed"), \(goesAway ? "going away" : "staying")"
    }
}
