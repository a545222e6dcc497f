package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether the method is safe (RFC 9110 §9.2.1). A method that is not known counts as unsafe.
    package var isSafe: Bool {
        // Not a list that is searched: every call asks, and most are GET.
        self == .get || self == .head || self == .options || self == .trace || isQuery
    }

    /// Whether several identical requests have the effect of one (RFC 9110 §9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// Whether the method is QUERY, a safe method whose body is the query.
    package var isQuery: Bool { rawValue == "QUERY" }
}
