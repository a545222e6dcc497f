import HummingbirdCore

extension RequestBody {
    /// Whether `consumeWithInboundCloseHandler` can be used, which reports that a client has disconnected.
    ///
    /// Observing a body stops the process if a middleware has replaced the body, and Hummingbird has no other way to
    /// find that out. A body whose structure is not known counts as replaced.
    var canObserveDisconnection: Bool {
        let backing = Mirror(reflecting: self).children.first { $0.label == "_backing" }
        guard let backing, let value = Mirror(reflecting: backing.value).children.first else { return false }
        if value.label == "nioAsyncChannelRequestBody" { return true }
        // A body that was read or changed, and still has the original one.
        guard let original = Mirror(reflecting: value.value).children.dropFirst().first else { return false }
        return !Mirror(reflecting: original.value).children.isEmpty
    }
}
