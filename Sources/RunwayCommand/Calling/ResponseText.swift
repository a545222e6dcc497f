import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// Writes the body of a response to standard output so that a person can read it.
///
/// JSON is indented, and coloured on a terminal. Other text is written in UTF-8, with control characters escaped on a
/// terminal. A body that is not text, or has a content coding that was not undone, is written byte for byte, or on a
/// terminal described by its size and type.
struct ResponseText {
    /// The largest body that is gathered to be made readable; larger ones are written as they come. 16 MiB.
    static let maximumGatheredByteCount = 16 << 20

    let head: HTTPResponse
    let progress: CallProgress

    private var console: Console { .output }
    private var mediaType: MediaType? { head.headerFields[.contentType].flatMap { MediaType($0) } }

    /// Whether the body has to be known to its end before it can be written.
    private var mustGather: Bool {
        if head.remainingCoding != nil { return console.isTerminal }
        guard let mediaType else { return console.isTerminal }
        if mediaType.isJSON { return true }
        let isPlainText = mediaType.type == "text" && [nil, "utf-8", "utf8", "us-ascii"].contains(mediaType.charset)
        return console.isTerminal && !isPlainText
    }

    /// Writes all parts.
    ///
    /// - Returns: The error of a body that is declared to be JSON, and is not.
    func write(_ parts: CountedParts) async throws -> JSONError? {
        var gathered: [UInt8] = []
        var isGathering = mustGather
        var output = ConsoleParts(for: console)
        var last: UInt8?
        if let coding = head.remainingCoding, !console.isTerminal {
            Console.error.remark(
                "The body has the content coding \(coding), which is unknown, and is written unchanged.")
        }
        try await parts.forEach { part in
            if last == nil, isTextInAnotherEncoding(part) { isGathering = true }
            if isGathering {
                last = part.last
                gathered += part
                if gathered.count <= Self.maximumGatheredByteCount { return }
                isGathering = false
                // Too large to be formatted. On a terminal, bytes that are not text are not shown.
                if console.isTerminal, !isText(gathered.dropLast(3)) {
                    throw CommandFailure(
                        "The response is larger than \(ByteCount(Self.maximumGatheredByteCount)) and not text; "
                            + "use --output FILE to save it.", status: ExitStatus.noResponse)
                }
                progress.giveWay()
                if mediaType?.isJSON == true || isTextInAnotherEncoding(gathered) {
                    Console.error.remark(
                        "The body is larger than \(ByteCount(Self.maximumGatheredByteCount)): it is written unchanged"
                            + (mediaType?.isJSON == true ? ", and not checked for being JSON." : "."))
                }
                try output.write(gathered)
                gathered = []
            } else {
                progress.giveWay()
                try output.write(part)
            }
            last = part.last
        }
        if isGathering {
            progress.giveWay()
            return try write(RawData(gathered, response: head))
        }
        try output.end()
        if console.isTerminal, let last, last != 0x0A { try console.write("\n") }
        return nil
    }

    private func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        head.remainingCoding == nil && String(validating: bytes, as: UTF8.self) != nil
    }

    /// Whether a body with these bytes is declared to be text, in an encoding that is not UTF-8.
    private func isTextInAnotherEncoding(_ bytes: [UInt8]) -> Bool {
        guard head.remainingCoding == nil, let mediaType, mediaType.type == "text" || mediaType.isXML else {
            return false
        }
        return RawData(bytes, response: head).isTranscoded
    }

    private func write(_ rawData: RawData) throws -> JSONError? {
        if rawData.bytes.isEmpty { return nil }
        if mediaType?.isJSON == true, head.remainingCoding == nil {
            let root = rawData.json
            guard let error = root.invalidDocumentError else {
                var text = JSONText(for: console)
                try text.write(root.rawBytes)
                return nil
            }
            if error.kind == .limitExceeded { Console.error.remark("\(error). It is written unchanged.") }
        }
        try writeAsItIs(rawData)
        return rawData.jsonFault
    }

    private func writeAsItIs(_ rawData: RawData) throws {
        guard console.isTerminal else {
            // A server may declare any file to be text: what has binary data bytes stays as it is (MIME Sniffing §3).
            if isTextInAnotherEncoding(rawData.bytes), let text = rawData.text,
                !text.utf8.contains(where: \.isBinaryData)
            {
                return try console.write(text)
            }
            return try console.write(rawData.bytes)
        }
        guard head.remainingCoding == nil, let text = rawData.text, !text.utf8.contains(0) else {
            let kind = mediaType.map { " of \($0)" } ?? ""
            let coding = head.remainingCoding.map { " in the content coding \($0)" } ?? ""
            let size = ByteCount(rawData.bytes.count)
            let remark = "[\(size)\(kind)\(coding), which is not text; --output FILE saves it]\n"
            return try console.write(ConsoleText(remark, .dim, for: console))
        }
        try console.write(text.utf8.last == 0x0A ? text : text + "\n")
    }
}

extension RawData {
    /// The error of a body that is declared to be JSON and is not; `nil` if its coding was not undone, if it only
    /// exceeds the limits of the JSON reader, and if it is empty.
    var jsonFault: JSONError? {
        guard mediaType?.isJSON == true, response.remainingCoding == nil, !bytes.isEmpty else { return nil }
        return json.invalidDocumentError.flatMap { $0.kind == .limitExceeded ? nil : $0 }
    }
}

extension UInt8 {
    /// Whether it is a control character that no text has.
    fileprivate var isBinaryData: Bool {
        switch self {
        case 0...0x08, 0x0B, 0x0E...0x1A, 0x1C...0x1F: true
        default: false
        }
    }
}
