import Foundation
import HTTPTypes
import Runway
import RunwayFormats
import RunwayJSON

/// The owner of the records in a batch. It decides whether the request carries a token.
protocol LogOwner: Sendable {
    /// Returns the authorization policy for the request, based on the service's policy.
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy
}

/// The records belong to the signed-in account.
enum LogOfAccount: LogOwner {
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy { policy }
}

/// The records belong to no account. The request has no token, so that the server does not assign them to the account
/// that is signed in now. An exception is a service that accepts only requests with a token.
enum LogOfNobody: LogOwner {
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy {
        policy == .ifSignedIn ? .none : policy
    }
}

/// A request of an action log; see `docs/formats.md`. Its priority is low, so that calls of the app go first.
protocol ActionLogRequest: Endpoint {}

extension ActionLogRequest {
    /// The layer does not retry, since the log repeats its requests itself, also in later runs.
    static var retry: RetryPolicy { .off }
    static var isMergeable: Bool { false }
    static var priority: CallPriority { .low }
}

struct ActionLogBatch<Service: APIService, Owner: LogOwner>: ActionLogRequest {
    static var authorization: AuthorizationPolicy { Owner.authorization(from: Service.authorization) }
    static var name: String { "ActionLog" }
    static var method: HTTPRequest.Method { .post }
    static var encoding: ParameterEncoding { .raw(contentType: "application/json") }

    @Unencoded var path: EndpointPath
    @Unencoded var body: [UInt8]

    var headers: [String: String] { ["Content-Encoding": "gzip"] }
    var content: RequestBody { .bytes(body) }
}

/// A request that asks the server to erase records.
protocol LogErasure: ActionLogRequest {}

extension LogErasure {
    /// Accepts only status 204. A login page with status 200, or a page after a redirect, confirms no erasure.
    func validate(response: RawData) throws(NetworkError) {
        let status = response.response.status
        guard status == .noContent else {
            throw NetworkError(
                .refused, in: .checking, "The response with status \(status.code) confirms no erasure.", status: status)
        }
    }
}

/// Asks the server to erase the records of the signed-in account.
struct ActionLogErasure<Service: APIService>: LogErasure {
    static var name: String { "ActionLogErasure" }
    static var method: HTTPRequest.Method { .delete }

    @Unencoded var path: EndpointPath
}

/// Asks the server to erase the records that this installation sent without an account.
struct AnonymousErasure<Service: APIService>: LogErasure {
    /// The request has no token, since a token would reveal the owner of the records. An exception is a service that
    /// accepts only requests with a token.
    static var authorization: AuthorizationPolicy { LogOfNobody.authorization(from: Service.authorization) }
    static var name: String { "AnonymousErasure" }
    static var method: HTTPRequest.Method { .post }
    static var encoding: ParameterEncoding { .raw(contentType: "application/json") }

    @Unencoded var log: EndpointPath
    @Unencoded var secret: InstallationSecret

    var path: EndpointPath { EndpointPath(stringLiteral: log.percentEncoded + "/erasure") }
    /// The body with the member `secret`. Redaction hides this member in records of calls.
    var content: RequestBody { .bytes(ErasureRequest.json(secret: secret.text)) }
}

enum ActionLogBody {
    /// Encodes a batch as gzip-compressed JSON. In a repeated batch only the date of the attempt differs.
    static func encode(_ batch: JournalBatch, of installation: UUID, sentAt date: Date) throws(StorageError) -> [UInt8]
    {
        var bytes = Array("{\"installation\":\"\(installation.text)\",\"stream\":\"\(batch.stream.text)\"".utf8)
        if !batch.scope.isEmpty {
            var writer = JSONWriter()
            writer.string(batch.scope)
            bytes += Array(",\"account\":".utf8) + writer.bytes
        }
        bytes += Array(",\"batch\":\(batch.number),\"sent\":\(date.milliseconds),\"records\":[".utf8)
        for (index, entry) in batch.entries.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            // The payload is a non-empty object, so members can be inserted at its start.
            bytes += Array("{\"seq\":\(entry.sequence),".utf8)
            bytes += entry.payload.dropFirst()
        }
        bytes += Array("]}".utf8)
        guard let coded = GzipEncoder(level: 6)?.encode(bytes, isLast: true) else {
            throw StorageError(.unavailable, "There is not enough memory to compress a batch.")
        }
        return coded
    }
}

extension String {
    /// Returns the longest prefix with at most `count` UTF-8 bytes that ends between two scalars. A limit in characters
    /// would not limit the bytes, since a character may have any number of combining marks.
    func cut(toByteCount count: Int) -> String {
        if utf8.count <= count { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}

/// A server's verdicts on the records of one batch.
struct ActionLogVerdicts: Equatable {
    /// The ids of the records that the server has stored.
    var stored: Set<UUID> = []
    /// The ids of the records that the server will never accept, with the server's reasons.
    var refused: [UUID: String] = [:]
    /// The pause that the server asks for; zero if it asks for none.
    var gap = Duration.zero
    /// The fraction of records that the server wants; 1 if it names none.
    var sampleRate = 1.0

    /// Interprets a response. Returns `nil` if the response does not belong to the batch, or has no verdict on the
    /// batch's records.
    init?(_ json: JSONValue, to batch: JournalBatch) {
        guard let response = BatchResponse(json), response.stream == batch.stream, response.number == batch.number
        else { return nil }
        let sent = Set(batch.entries.map(\.id))
        // Verdicts on records outside this batch are ignored.
        for (id, verdict) in response.verdicts where sent.contains(id) {
            switch verdict {
            case .stored, .duplicate: stored.insert(id)
            case .refused(let reason): refused[id] = reason.cut(toByteCount: 800)
            }
        }
        // A record that the server has stored is not set aside, even if the response also refuses it.
        for id in stored { refused[id] = nil }
        if stored.isEmpty, refused.isEmpty { return nil }
        if let wait = response.wait, wait > 0 { gap = .seconds(min(wait, 86_400)) }
        if let rate = response.sampleRate { sampleRate = max(0, min(rate, 1)) }
    }
}
