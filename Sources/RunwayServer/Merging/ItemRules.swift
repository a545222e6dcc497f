import Foundation
import HTTPTypes
import RunwayFormats
import RunwayJSON

/// The rules for a request in an envelope: it must be one that the client could have sent separately to the same base.
struct ItemRules: Sendable {
    struct Violation: Error {
        let message: String
    }

    /// The path below which requests must be: empty, or with a leading slash and no trailing slash.
    let base: String
    /// The path of the route for envelopes.
    let route: String
    let limits: MergingLimits

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Validates a request and prepares it for execution.
    ///
    /// - Throws: ``Violation``.
    func item(
        _ json: JSONValue, id: String, position: Int, in outer: HTTPRequest
    ) throws(Violation) -> MergedItem {
        guard let method = json["method"].string.flatMap({ HTTPRequest.Method($0) }), Self.methods.contains(method)
        else { throw Violation(message: "The method is missing or can't be merged.") }
        guard let path = json["path"].string else { throw Violation(message: "The path is missing.") }
        try check(path)
        var fields = try headers(json)
        for name in limits.inheritedHeaders where outer.headerFields.contains(name) {
            fields[fields: name] = outer.headerFields[fields: name]
        }
        guard let body = EnvelopeItem.body(json) else {
            throw Violation(message: "The body is no string, or its Base64 can't be read.")
        }
        if !body.isEmpty { fields[.contentLength] = "\(body.count)" }
        let head = HTTPRequest(
            method: method, scheme: outer.scheme, authority: outer.authority, path: path, headerFields: fields)
        return MergedItem(id: id, position: position, head: head, body: body)
    }

    /// Requires a path in origin-form (RFC 9112 §3.2.1). It must be below the base, and must not be the route for
    /// envelopes.
    private func check(_ path: String) throws(Violation) {
        // Only visible ASCII is accepted, since a line break could forge header fields or log lines wherever the path
        // is written.
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") }),
            path.hasPrefix("/"), !path.hasPrefix("//"), path.utf8.count <= 8192
        else { throw Violation(message: "The path is not in origin-form.") }
        let resource = path.prefix { $0 != "?" }
        guard resource == base || resource.hasPrefix("\(base)/") else {
            throw Violation(message: "The path is not below \"\(base)/\".")
        }
        guard let segments = Self.segments(resource) else {
            throw Violation(message: "The path has a percent sign that encodes nothing.")
        }
        // Code that decodes the path twice takes an encoded slash for a separator. The path must stay below the base in
        // both readings.
        let steps = segments.flatMap { $0.split { $0 == "/" || $0 == "\\" } }
        guard !steps.contains(where: { $0 == "." || $0 == ".." }) else {
            throw Violation(message: "The path has a segment that refers to another directory.")
        }
        let isRoute = segments.map { $0.lowercased() } == Self.segments(route[...])?.map { $0.lowercased() }
        if isRoute { throw Violation(message: "Merged requests can't be merged again.") }
    }

    /// Returns the non-empty segments of a path, percent-decoded; `nil` if the encoding is malformed.
    private static func segments(_ path: Substring) -> [String]? {
        var segments: [String] = []
        for segment in path.split(separator: "/") {
            guard let decoded = String(segment).removingPercentEncoding else { return nil }
            segments.append(decoded)
        }
        return segments
    }

    private func headers(_ item: JSONValue) throws(Violation) -> HTTPFields {
        let list = item["headers"]
        guard [.array, .missing].contains(list.kind), list.count <= MergingLimits.maximumHeaderFields else {
            throw Violation(
                message: "\"headers\" is no array, or has more than \(MergingLimits.maximumHeaderFields) fields.")
        }
        guard let sent = EnvelopeItem.headers(item) else {
            throw Violation(message: "A header field is no pair of a name and a value.")
        }
        var fields = HTTPFields()
        for field in sent {
            guard !field.name.isHopByHop, field.name.canonicalName != "host",
                !limits.inheritedHeaders.contains(field.name)
            else {
                throw Violation(message: "The header field \"\(field.name.rawName)\" belongs to the envelope.")
            }
            // The length is computed here, and content coding applies to the envelope as a whole.
            if [.contentLength, .acceptEncoding, .expect].contains(field.name) { continue }
            fields.append(field)
        }
        return fields
    }
}
