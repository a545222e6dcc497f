package import HTTPTypes
package import RunwayJSON

/// A refusal as a response states it: the members of `application/problem+json` (RFC 9457).
package struct Problem: Sendable {
    /// The media type of a response with a problem.
    package static let mediaType = "application/problem+json"

    /// The part of a server that refuses. The `type` of its problems is `urn:runway:`, its name, a colon and a reason
    /// in one word.
    package enum Family: String, Sendable {
        case body, chat, enrolment, idempotency, log, signature

        private var prefix: String { "urn:runway:\(rawValue):" }

        /// Returns the `type` of a problem with this reason.
        package func type(_ reason: String) -> String { prefix + reason }

        /// Returns the reason in the `type` of a problem of this family; `nil` for any other value.
        package func reason(of problem: JSONValue) -> String? {
            guard let type = problem["type"].string, type.hasPrefix(prefix) else { return nil }
            return String(type.dropFirst(prefix.count))
        }
    }

    private let type: String
    private let title: String
    private let detail: String?
    /// The status of the response.
    package let status: HTTPResponse.Status

    /// - Parameters:
    ///   - type: A URI that names the problem. The default, `about:blank`, says no more than the status.
    ///   - title: A sentence that is the same for every problem of the type.
    ///   - detail: A sentence about the problem of this request. The default, `nil`, says no more than the title.
    package init(
        type: String = "about:blank", _ title: String, _ status: HTTPResponse.Status, detail: String? = nil
    ) {
        (self.type, self.title, self.detail, self.status) = (type, title, detail, status)
    }

    /// Returns the body of the response.
    ///
    /// - Parameter addMembers: Adds members of the type. The default adds none.
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
