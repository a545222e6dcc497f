import Foundation
import HTTPTypes
import RunwayFormats
import RunwayJSON

/// The rules for a request in an envelope: it has to be one that could have been sent by itself to the same base.
struct ItemRules: Sendable {
    /// The reason why a request is not run.
    struct Violation: Error {
        let message: String
    }

    /// The path below which requests may be; empty, or with a slash before and none after it.
    let base: String
    /// The path of the route that takes envelopes.
    let route: String
    let limits: MergingLimits

    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Validates a request and prepares it to run.
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

    /// Lets pass a path in origin-form (RFC 9112 §3.2.1) that stays below the base and is not the route of envelopes
    /// itself.
    private func check(_ path: String) throws(Violation) {
        // Only visible ASCII: a line break would forge header fields in whatever writes the path down.
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
        // An encoded slash is part of a segment, except for code that decodes it a second time: neither may lead upwards.
        let steps = segments.flatMap { $0.split { $0 == "/" || $0 == "\\" } }
        guard !steps.contains(where: { $0 == "." || $0 == ".." }) else {
            throw Violation(message: "The path has a segment that refers to another directory.")
        }
        let isRoute = segments.map { $0.lowercased() } == Self.segments(route[...])?.map { $0.lowercased() }
        if isRoute { throw Violation(message: "Merged requests can't be merged again.") }
    }

    /// Returns the segments that are not empty, percent-decoded.
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
            // The length is counted here, and a coding is for the envelope as a whole.
            if [.contentLength, .acceptEncoding, .expect].contains(field.name) { continue }
            fields.append(field)
        }
        return fields
    }
}
