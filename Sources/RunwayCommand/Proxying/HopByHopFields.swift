import HTTPTypes

extension HTTPFields {
    /// The fields that are for the other end, and not for this connection alone (RFC 9110 §7.6.1).
    ///
    /// Left out are `Connection` and every field that it names, those that stood beside it for long, `Host`, which is in the head,
    /// and what says how a body is framed, which is decided anew for each connection. `Content-Length` stays.
    var endToEnd: HTTPFields {
        var dropped: Set<String> = [
            "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "proxy-connection",
        ]
        for field in self where field.name == .connection {
            for name in field.value.split(separator: ",") {
                dropped.insert(name.lowercased().filter { $0 != " " && $0 != "\t" })
            }
        }
        // What frames the body is not the client's to take away.
        dropped.remove("content-length")
        return HTTPFields(
            filter { field in
                let name = field.name.canonicalName
                return !dropped.contains(name) && !name.hasPrefix("proxy-")
            })
    }
}
