import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// A destination for the body of a response.
enum ResponseSink: Sendable {
    /// To standard output, made readable: see ``ResponseText``.
    case shown
    /// To standard output, unchanged.
    case verbatim
    /// To a file.
    case file(OutputFile)
    /// Into memory, at most ``maximumCollectedByteCount``.
    case collected
    /// Nowhere.
    case dropped

    /// The largest response that is put into a report: 64 MiB.
    static let maximumCollectedByteCount = 64 << 20
}

/// The outcome of writing the body of a response.
enum ShownResponse: Sendable {
    case written
    /// The body was written although it is declared to be JSON and is not.
    case writtenDespite(JSONError)
    case saved(path: String)
    case collected(RawData)

    /// The parser's error for a body that is declared to be JSON and is not; otherwise `nil`.
    var jsonFault: JSONError? {
        switch self {
        case .writtenDespite(let fault): fault
        case .collected(let rawData): rawData.jsonFault
        case .written, .saved: nil
        }
    }
}

extension ResponseSink {
    /// Reads the body to its end and writes it.
    ///
    /// - Parameter progress: Counts every part, and is removed when the terminal is needed for the response.
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

/// The parts of a body, which the progress line counts.
struct CountedParts {
    let body: BodyStream
    let progress: CallProgress

    func forEach(_ take: ([UInt8]) async throws -> Void) async throws {
        for try await part in body {
            progress.received(part.count)
            try await take(part)
        }
    }

    /// Returns all parts as one array.
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
