package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether the method is safe (RFC 9110 §9.2.1). An unknown method counts as unsafe.
    package var isSafe: Bool {
        // Comparisons are used because they are faster than a search in a list. Every call reads this property, and
        // most methods are GET.
        self == .get || self == .head || self == .options || self == .trace || isQuery
    }

    /// Whether several identical requests have the same effect as one (RFC 9110 §9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// Whether the method is QUERY, a safe method whose body contains the query.
    package var isQuery: Bool { rawValue == "QUERY" }
}
