import HummingbirdCore

extension RequestBody {
    /// Whether `consumeWithInboundCloseHandler` can be used, which reports that a client has disconnected.
    ///
    /// It stops the process if a middleware has replaced the body by another one, and Hummingbird has no other way to
    /// find that out. A body whose structure is not known counts as replaced.
    var canObserveDisconnection: Bool {
        let backing = Mirror(reflecting: self).children.first { $0.label == "_backing" }
        guard let backing, let value = Mirror(reflecting: backing.value).children.first else { return false }
        if value.label == "nioAsyncChannelRequestBody" { return true }
        // A body that was read, or changed, with the original one beside it.
        guard let original = Mirror(reflecting: value.value).children.dropFirst().first else { return false }
        return !Mirror(reflecting: original.value).children.isEmpty
    }
}
