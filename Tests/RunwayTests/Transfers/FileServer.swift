import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization

/// A server of one file, without a socket, that does as RFC 9110 says or as a test wants.
final class FileServer: Sendable {
    /// What is wrong with a response.
    enum Bend: CaseIterable {
        /// The connection breaks within the body.
        case cut
        /// The range is not looked at.
        case wholeInsteadOfPart
        /// The part begins elsewhere than asked, and says so.
        case otherPart
        /// The part says that it is of another state of the file.
        case otherTag
        /// The part says that the file has another length.
        case otherLength
        /// The part is shorter than was asked for, as a server may decide.
        case shortPart
        /// The body ends before what the head says, as if it were complete.
        case tooFew
        /// The body goes on after what the head says.
        case tooMany
        /// The part says that it is in a content coding.
        case coded
        /// The range can't be satisfied, whatever it is.
        case unsatisfied
        /// No part of the file is sent.
        case unavailable
        /// The head says neither how long the file is nor how the range lies in it.
        case vague
    }

    struct State {
        var bytes: [UInt8]
        var tag: String
        var hasTag = true
        var hasDigest = false
        /// The content coding that whole responses say they are in.
        var coding: String?
        var bends: [Bend] = []
        var random = SeededGenerator(seed: 1)
        var requests: [Request] = []
        /// What is done after so many parts of a response.
        var onPart: (@Sendable (Int) -> Void)?
    }

    let state: Mutex<State>

    init(_ bytes: [UInt8], tag: String = "\"1\"") { state = Mutex(State(bytes: bytes, tag: tag)) }

    var requests: [Request] { state.withLock { $0.requests } }

    /// Responds, with the next fault if there is one.
    func respond(_ request: Request) -> Response {
        let (state, bend) = state.withLock { state in
            state.requests.append(request)
            // The next response breaks elsewhere.
            _ = state.random.next()
            return (state, state.bends.isEmpty ? nil : state.bends.removeFirst())
        }
        var random = state.random
        let fields = request.head.headerFields
        var range: Range<Int>?
        if let text = fields[.range], fields[.ifRange] == nil || fields[.ifRange] == (state.hasTag ? state.tag : ""),
            bend != .wholeInsteadOfPart
        {
            let start = Int(text.dropFirst(6).dropLast()) ?? 0
            guard start < state.bytes.count, bend != .unsatisfied else {
                var head = HTTPResponse(status: .rangeNotSatisfiable)
                if bend != .vague { head.headerFields[.contentRange] = "bytes */\(state.bytes.count)" }
                return Response(head: head, body: .stream(BodyStream([])))
            }
            range = start..<state.bytes.count
            if bend == .otherPart { range = (start / 2)..<max(start / 2 + 1, state.bytes.count - 1) }
            if bend == .shortPart { range = start..<Int.random(in: start + 1...state.bytes.count, using: &random) }
        }
        if bend == .unavailable { return .json("{}", status: .serviceUnavailable) }
        var head = HTTPResponse(status: range == nil ? .ok : .partialContent)
        if state.hasTag { head.headerFields[.eTag] = bend == .otherTag && range != nil ? "\"other\"" : state.tag }
        if state.hasDigest, let name = HTTPField.Name("Repr-Digest") {
            head.headerFields[name] = state.bytes.digestField
        }
        if range == nil { head.headerFields[.contentEncoding] = state.coding }
        if bend == .coded, range != nil { head.headerFields[.contentEncoding] = "gzip" }
        var bytes = state.bytes
        if let range {
            bytes = Array(bytes[range])
            let length =
                bend == .otherLength ? "\(state.bytes.count + 1)" : bend == .vague ? "*" : "\(state.bytes.count)"
            head.headerFields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        }
        if bend != .vague { head.headerFields[.contentLength] = "\(bytes.count)" }
        var breaks = false
        if bend == .cut, !bytes.isEmpty {
            bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
            breaks = true
        }
        if bend == .tooFew, !bytes.isEmpty { bytes.removeLast() }
        if bend == .tooMany { bytes.append(7) }
        return Response(
            head: head,
            body: .stream(Self.stream(bytes, step: Int.random(in: 1...100_000, using: &random), breaks, state.onPart)))
    }

    private static func stream(
        _ bytes: [UInt8], step: Int, _ breaks: Bool, _ onPart: (@Sendable (Int) -> Void)?
    ) -> BodyStream {
        BodyStream {
            var start = 0
            var count = 0
            return {
                count += 1
                onPart?(count)
                if Task.isCancelled { throw NetworkError(.cancelled, in: .transporting, "cancelled") }
                guard start < bytes.count else {
                    if breaks { throw NetworkError(.noNetwork, in: .transporting, "The connection was cut.") }
                    return nil
                }
                let end = min(bytes.count, start + step)
                defer { start = end }
                return Array(bytes[start..<end])
            }
        }
    }
}

/// A folder for one test, which goes with it.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("runway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String = "file") -> URL { url.appendingPathComponent(name) }

    /// The bytes of a file; `nil` where there is none.
    func bytes(_ name: String = "file") -> [UInt8]? {
        FileManager.default.contents(atPath: file(name).path).map(Array.init)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}

extension [UInt8] {
    /// So many bytes that a seed makes.
    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let number = random.next()
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
            }
        }
        return Array(bytes.prefix(count))
    }
}
