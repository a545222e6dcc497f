import Foundation
import HTTPTypes
import Runway

/// The output of `--json` for one call. Absent values are left out.
struct CallReport: Encodable, Sendable {
    let request: RequestReport?
    let response: ResponseReport?
    /// The record of the call; `nil` if nothing was sent.
    let flight: FlightRecord?
    let error: NetworkError?

    /// The first request that was sent. The requests of redirects are among the attempts in the record of the call.
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

    /// The response. Its header fields are redacted as in the record. Its body is not redacted, since the user
    /// requested it.
    struct ResponseReport: Encodable, Sendable {
        let status: Int
        let reason: String
        let headers: [[String]]?
        /// The body if it is text (``RawData/text``).
        let body: String?
        /// The body in Base64 if it is not text, has invalid UTF-8, or has a content coding.
        let bodyBase64: String?
        /// The content coding of the body, if it was not decoded.
        let contentCoding: String?
        let byteCount: Int?
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
    /// Returns the value as indented JSON with sorted names and a final line feed.
    func jsonText() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}

extension HTTPFields {
    fileprivate var pairs: [[String]] { map { [$0.name.rawName, $0.value] } }
}
