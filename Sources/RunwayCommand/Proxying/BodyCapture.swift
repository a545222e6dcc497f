import HTTPTypes
import Runway
import RunwayJSON
import Synchronization

/// The first bytes of a forwarded body, for `--show-bodies`.
struct CapturedBody: Sendable {
    /// The maximum number of bytes stored per body: 4 KiB.
    static let maximumByteCount = 4 << 10

    var bytes: [UInt8] = []
    var byteCount = 0
    let contentType: String?
    /// The content coding, which is not decoded.
    let coding: String?

    init(_ fields: HTTPFields) {
        contentType = fields[.contentType]
        let codings = fields.contentCodings
        coding = codings.isEmpty ? nil : codings.joined(separator: ", ")
    }

    mutating func append(_ part: [UInt8]) {
        bytes += part.prefix(Self.maximumByteCount - bytes.count)
        byteCount += part.count
    }

    /// Returns the body as one line with recognised secrets redacted, or a description if the body is not text. Returns
    /// `nil` if the body is empty.
    func text(_ names: JSONRedaction) -> String? {
        if byteCount == 0 { return nil }
        guard isText else {
            let kind = contentType.map { " of \($0)" } ?? ""
            return "[\(ByteCount(byteCount))\(kind)\(coding.map { " in the content coding \($0)" } ?? "")]"
        }
        let text = names.redactedText(of: bytes, maximumByteCount: Self.maximumByteCount)
        return byteCount > bytes.count ? "\(text) [of \(ByteCount(byteCount))]" : text
    }

    private var isText: Bool {
        guard coding == nil, !bytes.contains(0), let mediaType = contentType.flatMap({ MediaType($0) }) else {
            return false
        }
        let names = ["x-www-form-urlencoded", "xml", "javascript", "graphql", "x-ndjson"]
        return mediaType.isJSON || mediaType.type == "text" || names.contains(mediaType.subtype)
            || mediaType.subtype.hasSuffix("+xml")
    }
}

/// The captured bodies of calls whose record has not been printed yet.
final class BodyCaptures: Sendable {
    /// The maximum number of calls whose bodies are stored. The bodies of the oldest call are dropped first.
    static let maximumCount = 1024

    struct Pair: Sendable {
        var request: CapturedBody?
        var response: CapturedBody?
    }

    /// Guards the bodies of each call.
    private let pairs = Mutex<[FlightID: Pair]>([:])

    func change(_ id: FlightID, _ change: (inout Pair) -> Void) {
        pairs.withLock { pairs in
            change(&pairs[id, default: Pair()])
            if pairs.count > Self.maximumCount, let oldest = pairs.keys.min(by: { $0.number < $1.number }) {
                pairs[oldest] = nil
            }
        }
    }

    func take(_ id: FlightID) -> Pair? { pairs.withLock { $0.removeValue(forKey: id) } }
}

/// Captures the start of every body that is forwarded. The bodies themselves are unchanged.
struct BodyCaptureStage: RequestStage {
    let captures: BodyCaptures

    var step: FlightStep { .customStage("bodies") }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let (id, captures) = (flight.id, captures)
        var request = request
        let sent = CapturedBody(request.head.headerFields)
        captures.change(id) { $0.request = sent }
        switch request.body {
        case .none: break
        case .bytes(let bytes): captures.change(id) { $0.request?.append(bytes) }
        case .stream(let stream, let byteCount, let isReplayable):
            let tapped = stream.tapped { part in captures.change(id) { $0.request?.append(part) } }
            request.body = .stream(tapped, byteCount: byteCount, isReplayable: isReplayable)
        }
        var response = try await next.send(request, in: flight)
        let received = CapturedBody(response.head.headerFields)
        captures.change(id) { $0.response = received }
        switch response.body {
        case .whole(let rawData): captures.change(id) { $0.response?.append(rawData.bytes) }
        case .stream(let stream):
            response.body = .stream(stream.tapped { part in captures.change(id) { $0.response?.append(part) } })
        }
        return response
    }
}

extension BodyStream {
    /// Returns a stream that also passes each part to `look` when it is read.
    fileprivate func tapped(_ look: @escaping @Sendable ([UInt8]) -> Void) -> BodyStream {
        BodyStream {
            var parts = makeAsyncIterator()
            return {
                let part = try await parts.next()
                if let part { look(part) }
                return part
            }
        }
    }
}
