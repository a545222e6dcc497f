import HummingbirdCore

extension RequestBody {
    /// Whether `consumeWithInboundCloseHandler`, which reports a disconnected client, can be used.
    ///
    /// The function traps if a middleware has replaced the body, and Hummingbird has no API to find that out. A body
    /// with an unknown structure counts as replaced.
    var canObserveDisconnection: Bool {
        let backing = Mirror(reflecting: self).children.first { $0.label == "_backing" }
        guard let backing, let value = Mirror(reflecting: backing.value).children.first else { return false }
        if value.label == "nioAsyncChannelRequestBody" { return true }
        // A body that was read or transformed still contains the original body.
        guard let original = Mirror(reflecting: value.value).children.dropFirst().first else { return false }
        return !Mirror(reflecting: original.value).children.isEmpty
    }
}
