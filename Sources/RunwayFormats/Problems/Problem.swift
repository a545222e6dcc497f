package import HTTPTypes
package import RunwayJSON

/// A problem in a response: the members of `application/problem+json` (RFC 9457).
package struct Problem: Sendable {
    package static let mediaType = "application/problem+json"

    /// The part of a server that refuses a request. The `type` of its problems is `urn:runway:`, the name of the part,
    /// a colon, and the reason in one word.
    package enum Family: String, Sendable {
        case body, chat, enrolment, idempotency, log, signature

        private var prefix: String { "urn:runway:\(rawValue):" }

        package func type(_ reason: String) -> String { prefix + reason }

        /// Returns the reason in a problem's `type`; `nil` if the problem does not belong to this family.
        package func reason(of problem: JSONValue) -> String? {
            guard let type = problem["type"].string, type.hasPrefix(prefix) else { return nil }
            return String(type.dropFirst(prefix.count))
        }
    }

    private let type: String
    private let title: String
    private let detail: String?
    package let status: HTTPResponse.Status

    /// - Parameters:
    ///   - type: A URI that identifies the kind of problem. The default, `about:blank`, adds nothing to the status.
    ///   - title: A sentence that is equal for all problems of this type.
    ///   - detail: A sentence about this occurrence of the problem. The default is `nil`, no sentence.
    package init(
        type: String = "about:blank", _ title: String, _ status: HTTPResponse.Status, detail: String? = nil
    ) {
        (self.type, self.title, self.detail, self.status) = (type, title, detail, status)
    }

    /// Encodes the body of the response.
    ///
    /// - Parameter addMembers: Adds further members of the type. The default adds none.
    package func json(_ addMembers: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("type", type)
            writer.member("title", title)
            writer.member("detail", detail)
            writer.member("status", status.code)
            addMembers(&writer)
        }
    }
}
