package import HTTPTypes
import RunwayFormats

extension HTTPFields {
    /// The fields to forward: without hop-by-hop fields, and without the fields that `Connection` names.
    ///
    /// `Content-Length`, `Via` and `Max-Forwards` remain even if `Connection` names them, because every recipient needs
    /// them (RFC 9110 §7.6.1).
    package var endToEnd: HTTPFields {
        let named = Set(self[values: .connection].flatMap { FieldList.elements(of: $0) }.map { $0.lowercased() })
        return HTTPFields(
            filter { field in
                if ["content-length", "via", "max-forwards"].contains(field.name.canonicalName) { return true }
                return !field.name.isHopByHop && !named.contains(field.name.canonicalName)
            })
    }
}
