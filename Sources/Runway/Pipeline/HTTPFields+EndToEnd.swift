package import HTTPTypes
import RunwayFormats

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
