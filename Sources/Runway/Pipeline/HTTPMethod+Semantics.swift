package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether the method is safe (RFC 9110 §9.2.1). A method that is not known counts as unsafe.
    package var isSafe: Bool { [.get, .head, .options, .trace].contains(self) || isQuery }

    /// Whether several identical requests have the effect of one (RFC 9110 §9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// Whether it is QUERY, a safe method whose body is the query.
    package var isQuery: Bool { rawValue == "QUERY" }
}
