package import HTTPTypes

extension HTTPField.Name {
    /// Whether the field is for one connection of HTTP/1.1, and may not be sent over HTTP/2 (RFC 9113 §8.2.2).
    package var isConnectionSpecific: Bool {
        switch canonicalName {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }

    /// Whether the field is for the next hop alone and not part of the message (RFC 9110 §7.6.1).
    ///
    /// Besides the fields of one connection, these are the ones between a client and its proxy (RFC 9110 §11.7), and
    /// `Trailer`, since no trailers are passed on. `Proxy-Status` is for all recipients (RFC 9209 §2).
    package var isHopByHop: Bool {
        switch canonicalName {
        case "te", "trailer", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization": true
        default: isConnectionSpecific
        }
    }
}

extension HTTPFields {
    /// The fields for the other end: without hop-by-hop fields, and without those that `Connection` names.
    ///
    /// `Content-Length`, `Via` and `Max-Forwards` stay even if `Connection` names them: they are for every recipient
    /// (RFC 9110 §7.6.1).
    package var endToEnd: HTTPFields {
        let named = Set(self[values: .connection].flatMap { FieldList.elements(of: $0) }.map { $0.lowercased() })
        return HTTPFields(
            filter { field in
                if ["content-length", "via", "max-forwards"].contains(field.name.canonicalName) { return true }
                return !field.name.isHopByHop && !named.contains(field.name.canonicalName)
            })
    }
}
