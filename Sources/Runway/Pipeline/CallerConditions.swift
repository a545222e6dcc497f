import HTTPTypes

/// The header fields of a request before a cache added its own preconditions.
private enum CallerConditions: StageValueKey {
    static var defaultValue: HTTPFields? { nil }
}

extension Request {
    /// The header fields as the caller set them, before a cache added its own preconditions; `nil` if no cache added
    /// any.
    var callerConditions: HTTPFields? {
        get { values[CallerConditions.self] }
        set { values[CallerConditions.self] = newValue }
    }

    /// Removes the preconditions that a cache added, because they apply to one target only (RFC 9110 §15.4).
    mutating func removeCacheConditions() {
        guard let own = callerConditions else { return }
        for name in HTTPField.Name.cacheConditions { head.headerFields[values: name] = own[values: name] }
        callerConditions = nil
    }
}
