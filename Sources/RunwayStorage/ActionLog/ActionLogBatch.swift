import Foundation
import HTTPTypes
import Runway
import RunwayFormats
import RunwayJSON

/// The owner of the records of a batch, which decides whether the request carries a token.
protocol LogOwner: Sendable {
    /// Returns the policy for the request, derived from the policy of the service.
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy
}

/// The account that is signed in.
enum LogOfAccount: LogOwner {
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy { policy }
}

/// No account: the records must not become those of the account that is signed in when they are sent, unless the
/// service accepts no others.
enum LogOfNobody: LogOwner {
    static func authorization(from policy: AuthorizationPolicy) -> AuthorizationPolicy {
        policy == .ifSignedIn ? .none : policy
    }
}

/// A request of an action log, as `docs/formats.md` describes it. Its priority is low, so that calls of the app go
/// first.
protocol ActionLogRequest: Endpoint {}

extension ActionLogRequest {
    /// The log repeats a request by itself, in later runs, too.
    static var retry: RetryPolicy { .off }
    static var isMergeable: Bool { false }
    static var priority: CallPriority { .low }
}

/// The request that carries a batch.
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

/// A request to the server to erase records.
protocol LogErasure: ActionLogRequest {}

extension LogErasure {
    /// Accepts only 204. The 200 of a login page, or of the page to which a 303 led, confirms no erasure.
    func validate(response: RawData) throws(NetworkError) {
        let status = response.response.status
        guard status == .noContent else {
            throw NetworkError(
                .refused, in: .checking, "The response with status \(status.code) confirms no erasure.", status: status)
        }
    }
}

/// The request to the server to erase the records of the account that sends it.
struct ActionLogErasure<Service: APIService>: LogErasure {
    static var name: String { "ActionLogErasure" }
    static var method: HTTPRequest.Method { .delete }

    @Unencoded var path: EndpointPath
}

/// The request to the server to erase the records without an account from this installation.
struct AnonymousErasure<Service: APIService>: LogErasure {
    /// The policy without a token, which would show whose records they were, unless the service accepts no request
    /// without one.
    static var authorization: AuthorizationPolicy { LogOfNobody.authorization(from: Service.authorization) }
    static var name: String { "AnonymousErasure" }
    static var method: HTTPRequest.Method { .post }
    static var encoding: ParameterEncoding { .raw(contentType: "application/json") }

    @Unencoded var log: EndpointPath
    @Unencoded var secret: InstallationSecret

    var path: EndpointPath { EndpointPath(stringLiteral: log.percentEncoded + "/erasure") }
    /// The body with the secret. Records of calls that contain bodies redact a member of this name.
    var content: RequestBody { .bytes(ErasureRequest.json(secret: secret.text)) }
}

/// The body of a batch.
enum ActionLogBody {
    /// Returns the JSON of a batch in gzip; the same records every time, with the date of this attempt.
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
            // The payload is an object that is never empty.
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
    /// Returns the longest start of the text that has at most `count` bytes in UTF-8 and cuts no scalar. A number of
    /// characters would bound no bytes: each may have any number of combining marks.
    func cut(toByteCount count: Int) -> String {
        if utf8.count <= count { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: count)
        while UTF8.isContinuation(utf8[end]) { end = utf8.index(before: end) }
        return String(unicodeScalars[..<end])
    }
}

/// The verdicts of a server on the records of one batch.
struct ActionLogVerdicts: Equatable {
    /// The records that the server has.
    var stored: Set<UUID> = []
    /// The records that the server will never accept, with its reasons.
    var refused: [UUID: String] = [:]
    /// The time for which the server wants no batch; zero if it does not say.
    var gap = Duration.zero
    /// The fraction of records that the server wants; 1 if it does not say.
    var sampleRate = 1.0

    /// Reads a response; `nil` if it is not a response to this batch, or has no verdict on any of its records.
    init?(_ json: JSONValue, to batch: JournalBatch) {
        guard let response = BatchResponse(json), response.stream == batch.stream, response.number == batch.number
        else { return nil }
        let sent = Set(batch.entries.map(\.id))
        // Verdicts on records that were not sent mean nothing.
        for (id, verdict) in response.verdicts where sent.contains(id) {
            switch verdict {
            case .stored, .duplicate: stored.insert(id)
            case .refused(let reason): refused[id] = reason.cut(toByteCount: 800)
            }
        }
        // A record that the server has is not set aside, whatever else the response says about it.
        for id in stored { refused[id] = nil }
        if stored.isEmpty, refused.isEmpty { return nil }
        if let wait = response.wait, wait > 0 { gap = .seconds(min(wait, 86_400)) }
        if let rate = response.sampleRate { sampleRate = max(0, min(rate, 1)) }
    }
}
