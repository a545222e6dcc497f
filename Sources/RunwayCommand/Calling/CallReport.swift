import Foundation
import HTTPTypes
import Runway

/// One call for programs, as `--json` prints it. Absent values are left out.
struct CallReport: Encodable, Sendable {
    let request: RequestReport?
    let response: ResponseReport?
    /// `nil` if nothing was sent.
    let flight: FlightRecord?
    let error: NetworkError?

    /// The request that was sent first; the requests of redirects are among the attempts of the flight.
    struct RequestReport: Encodable, Sendable {
        let method: String
        let url: String
        let headers: [[String]]
        let body: String?
        let bodyBase64: String?
        let byteCount: Int?

        init(_ attempt: FlightRecord.Attempt) {
            method = attempt.method.rawValue
            url = attempt.url
            headers = attempt.headerFields.pairs
            let text = attempt.requestBody.flatMap { String(validating: $0, as: UTF8.self) }
            body = text
            bodyBase64 = text == nil ? attempt.requestBody.map { Data($0).base64EncodedString() } : nil
            byteCount = attempt.requestByteCount
        }
    }

    /// The response. Its header fields are redacted like the record's; its body, which the user requested, is not.
    struct ResponseReport: Encodable, Sendable {
        let status: Int
        let reason: String
        let headers: [[String]]?
        /// The body, if it is text (``RawData/text``).
        let body: String?
        /// The body, if it is not text, has bytes for which U+FFFD stands in the text, or has a content coding.
        let bodyBase64: String?
        /// The content coding of the body, if it was not undone.
        let contentCoding: String?
        let byteCount: Int?
        /// The file that the body was written to.
        let file: String?

        init(_ head: HTTPResponse, _ shown: ShownResponse?, _ record: FlightRecord) {
            let last = record.attempts.last
            status = head.status.code
            reason = head.status.reasonPhrase
            headers = last?.responseHeaderFields?.pairs
            let rawData: RawData? = if case .collected(let rawData) = shown { rawData } else { nil }
            contentCoding = head.remainingCoding
            let text = contentCoding == nil ? rawData?.text : nil
            body = text
            let isExact = text?.unicodeScalars.contains("\u{FFFD}") == false
            bodyBase64 = isExact ? nil : rawData.map { Data($0.bytes).base64EncodedString() }
            byteCount = last?.responseByteCount
            file = if case .saved(let path) = shown { path } else { nil }
        }
    }
}

extension Encodable {
    /// Returns the value as indented JSON with its names in order, and a line feed.
    func jsonText() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}

extension HTTPFields {
    /// Every field as its name and its value, in order.
    fileprivate var pairs: [[String]] { map { [$0.name.rawName, $0.value] } }
}
