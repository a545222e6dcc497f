import Foundation
import HTTPTypes
import Runway
import RunwayJSON

enum ResponseSink: Sendable {
    /// Writes the body to standard output in readable form; see ``ResponseText``.
    case shown
    /// Writes the body to standard output unchanged.
    case verbatim
    case file(OutputFile)
    /// Collects the body in memory, up to ``maximumCollectedByteCount``.
    case collected
    case dropped

    /// The maximum size of a body in a report: 64 MiB.
    static let maximumCollectedByteCount = 64 << 20
}

enum ShownResponse: Sendable {
    case written
    /// The body was written. Its media type says JSON, but it is not valid JSON.
    case writtenDespite(JSONError)
    case saved(path: String)
    case collected(RawData)

    /// The parser's error if the media type says JSON, but the body is not valid JSON; otherwise `nil`.
    var jsonFault: JSONError? {
        switch self {
        case .writtenDespite(let fault): fault
        case .collected(let rawData): rawData.jsonFault
        case .written, .saved: nil
        }
    }
}

extension ResponseSink {
    /// Reads the body to its end, and writes it.
    ///
    /// - Parameter progress: Counts the received parts. Removes the progress line when the response is written to the
    ///   terminal.
    /// - Throws: The ``NetworkError`` of an incomplete body, and errors of writing.
    func consume(_ body: BodyStream, of head: HTTPResponse, progress: CallProgress) async throws -> ShownResponse {
        let parts = CountedParts(body: body, progress: progress)
        switch self {
        case .shown:
            let fault = try await ResponseText(head: head, progress: progress).write(parts)
            return fault.map { .writtenDespite($0) } ?? .written
        case .verbatim:
            progress.giveWay()
            try await parts.forEach { try Console.output.write($0) }
            return .written
        case .file(let file):
            do {
                try await parts.forEach { try file.write($0) }
            } catch {
                file.discard()
                throw error
            }
            try file.commit()
            return .saved(path: file.path)
        case .collected:
            let bytes = try await parts.collect(upTo: Self.maximumCollectedByteCount)
            return .collected(RawData(bytes, response: head))
        case .dropped:
            try await parts.forEach { _ in }
            return .written
        }
    }
}

struct CountedParts {
    let body: BodyStream
    let progress: CallProgress

    func forEach(_ take: ([UInt8]) async throws -> Void) async throws {
        for try await part in body {
            progress.received(part.count)
            try await take(part)
        }
    }

    func collect(upTo maximumByteCount: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await forEach { part in
            guard bytes.count + part.count <= maximumByteCount else {
                throw CommandFailure(
                    "The response is larger than \(ByteCount(maximumByteCount)). Use --output FILE, which takes any size.",
                    status: ExitStatus.noResponse)
            }
            bytes += part
        }
        return bytes
    }
}
