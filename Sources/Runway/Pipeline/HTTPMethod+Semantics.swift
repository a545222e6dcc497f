package import HTTPTypes

extension HTTPRequest.Method {
    /// Whether a request of this method asks for no change (RFC 9110 §9.2.1). One whose safety is not known may ask for one.
    package var isSafe: Bool { [.get, .head, .options, .trace].contains(self) || isQuery }

    /// Whether several identical requests have the effect of one (RFC 9110 §9.2.2).
    package var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// Whether it is QUERY, which asks by its body and changes nothing.
    package var isQuery: Bool { rawValue == "QUERY" }
}
