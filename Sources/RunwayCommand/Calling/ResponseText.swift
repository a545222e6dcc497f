import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// Writes the body of a response to standard output in a form that a person can read.
///
/// - JSON is indented, and coloured on a terminal.
/// - Other text is written in UTF-8. On a terminal its control characters are escaped.
/// - Other bodies, and bodies whose content coding is still applied, are written unchanged to a file or pipe. On a
///   terminal only their size and type are shown.
struct ResponseText {
    /// The maximum size of a body that is collected to be formatted: 16 MiB. Larger bodies are written as they arrive.
    static let maximumGatheredByteCount = 16 << 20

    let head: HTTPResponse
    let progress: CallProgress

    private var console: Console { .output }
    private var mediaType: MediaType? { head.headerFields[.contentType].flatMap { MediaType($0) } }

    /// Whether the whole body has to be collected before any of it is written.
    private var mustGather: Bool {
        if head.remainingCoding != nil { return console.isTerminal }
        guard let mediaType else { return console.isTerminal }
        if mediaType.isJSON { return true }
        let isPlainText = mediaType.type == "text" && [nil, "utf-8", "utf8", "us-ascii"].contains(mediaType.charset)
        return console.isTerminal && !isPlainText
    }

    /// Writes all parts.
    ///
    /// - Returns: The parser's error if the media type says JSON, but the body is not valid JSON; otherwise `nil`.
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
                // The body is too large to be formatted. A terminal shows it only if it is text.
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

    /// Whether the media type names a text encoding other than UTF-8, and `bytes` do not contradict it.
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
            // A server may label any file as text. A body with binary data bytes stays unchanged (MIME Sniffing §3).
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
    /// The parser's error if the media type says JSON, but the body is not valid JSON. `nil` for an empty body, for a
    /// body that is still content-coded, and for one that only exceeds the limits of the JSON reader.
    var jsonFault: JSONError? {
        guard mediaType?.isJSON == true, response.remainingCoding == nil, !bytes.isEmpty else { return nil }
        return json.invalidDocumentError.flatMap { $0.kind == .limitExceeded ? nil : $0 }
    }
}

extension UInt8 {
    fileprivate var isBinaryData: Bool {
        switch self {
        case 0...0x08, 0x0B, 0x0E...0x1A, 0x1C...0x1F: true
        default: false
        }
    }
}
