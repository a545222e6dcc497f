import Foundation
import HTTPTypes
import Runway
import RunwayJSON

/// Writes the body of an answer to standard output so that a person can read it.
///
/// JSON is indented, and coloured on a terminal. Other text is written as it is. What is not text goes out byte for byte
/// where no terminal is, and is described by its size and type where one is.
struct AnswerText {
    /// The largest body that is gathered to be made readable; larger ones are written as they come. 16 MiB.
    static let maximumGatheredByteCount = 16 << 20

    let head: HTTPResponse
    let progress: CallProgress

    private var console: Console { .output }
    private var mediaType: MediaType? { head.headerFields[.contentType].flatMap { MediaType($0) } }

    /// Whether the body has to be known to its end before it can be written.
    private var mustGather: Bool {
        guard let mediaType else { return console.isTerminal }
        if mediaType.isJSON { return true }
        let isPlainText = mediaType.type == "text" && [nil, "utf-8", "utf8", "us-ascii"].contains(mediaType.charset)
        return console.isTerminal && !isPlainText
    }

    /// Writes all parts.
    func write(_ parts: CountedParts) async throws {
        var gathered: [UInt8] = []
        var isGathering = mustGather
        var last: UInt8?
        try await parts.forEach { part in
            if isGathering {
                gathered += part
                if gathered.count <= Self.maximumGatheredByteCount { return }
                isGathering = false
                // Too large to be made readable. A terminal is spared what is not text.
                if console.isTerminal, String(validating: gathered.dropLast(3), as: UTF8.self) == nil {
                    throw CommandFailure(
                        "The answer is larger than \(ByteCount(Self.maximumGatheredByteCount)) and not text; "
                            + "--output FILE keeps it.", status: ExitStatus.noAnswer)
                }
                progress.giveWay()
                try console.write(gathered)
                gathered = []
            } else {
                progress.giveWay()
                try console.write(part)
            }
            last = part.last
        }
        if isGathering {
            progress.giveWay()
            try write(RawData(gathered, response: head))
        } else if console.isTerminal, let last, last != 0x0A {
            try console.write("\n")
        }
    }

    private func write(_ rawData: RawData) throws {
        if rawData.bytes.isEmpty { return }
        if mediaType?.isJSON == true {
            let root = rawData.json
            guard let error = root.invalidDocumentError else {
                var text = JSONText(for: console)
                return try text.write(root.rawBytes)
            }
            Console.error.remark("The answer says that it is JSON, and is not: \(error)")
        }
        guard console.isTerminal else { return try console.write(rawData.bytes) }
        guard let text = rawData.text, !text.utf8.contains(0) else {
            let kind = mediaType.map { " of \($0)" } ?? ""
            let remark = "[\(ByteCount(rawData.bytes.count))\(kind), which is not text; --output FILE keeps it]"
            return try console.write(console.styled(remark, .dim) + "\n")
        }
        try console.write(text.utf8.last == 0x0A ? text : text + "\n")
    }
}
