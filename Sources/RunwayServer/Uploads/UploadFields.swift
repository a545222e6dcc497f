import HTTPTypes

extension HTTPField.Name {
    static let uploadComplete = Self(known: "Upload-Complete")
    static let uploadIncomplete = Self(known: "Upload-Incomplete")
    static let uploadOffset = Self(known: "Upload-Offset")
    static let uploadLength = Self(known: "Upload-Length")
    static let uploadLimit = Self(known: "Upload-Limit")
    static let uploadDraftInteropVersion = Self(known: "Upload-Draft-Interop-Version")
    static let acceptPatch = Self(known: "Accept-Patch")
}

extension HTTPField.Name {
    /// Creates a name that is known to be valid.
    init(known text: StaticString) {
        guard let name = Self("\(text)") else { preconditionFailure("\(text) is not the name of a header field") }
        self = name
    }
}

/// The draft version that a client supports (draft-ietf-httpbis-resumable-upload, "Draft Version Identification").
enum UploadVersion: Int, Comparable {
    /// Draft 01, with `Upload-Incomplete` instead of `Upload-Complete`.
    case v3 = 3
    /// Drafts 03 and 04.
    case v5 = 5
    /// Draft 05, with the media type of partial uploads.
    case v6 = 6
    /// Drafts 06 and 07.
    case v7 = 7
    /// Draft 08 and later ones.
    case v8 = 8

    static let newest = Self.v8

    static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }

    /// Reads the version of a request; `nil` if it names none, or an unknown one.
    init?(_ fields: HTTPFields) {
        guard let number = fields.structuredInteger(.uploadDraftInteropVersion), let version = Self(rawValue: number)
        else { return nil }
        self = version
    }
}

/// The fields of a request about an upload. A field with an invalid value counts as absent.
struct UploadFields {
    /// The draft version; `nil` if the request names no known version.
    let version: UploadVersion?
    /// Whether the request contains the rest of the upload.
    let isComplete: Bool?
    let offset: Int?
    /// The length of the whole upload from `Upload-Length`.
    let length: Int?
    let contentLength: Int?

    init(_ fields: HTTPFields) {
        version = UploadVersion(fields)
        isComplete =
            version == .v3
            ? fields.structuredBoolean(.uploadIncomplete).map { !$0 } : fields.structuredBoolean(.uploadComplete)
        offset = fields.structuredInteger(.uploadOffset)
        length = fields.structuredInteger(.uploadLength)
        contentLength = fields[.contentLength].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
    }

    /// Returns the length of the whole upload that follows from the request at an offset; `nil` if none does.
    ///
    /// - Throws: ``UploadProblem/inconsistentLength`` if two different lengths follow.
    func length(from offset: Int) throws(UploadProblem) -> Int? {
        guard isComplete == true, let contentLength else { return length }
        let (end, overflows) = offset.addingReportingOverflow(contentLength)
        guard !overflows, length == nil || length == end else { throw .inconsistentLength }
        return end
    }
}

extension HTTPFields {
    /// Returns the value of an item that is a Boolean (RFC 9651 §3.3.6); `nil` for any other.
    func structuredBoolean(_ name: HTTPField.Name) -> Bool? {
        switch structuredItem(name) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Returns the value of an item that is an integer of at least zero (RFC 9651 §3.3.1); `nil` for any other.
    func structuredInteger(_ name: HTTPField.Name) -> Int? {
        guard let item = structuredItem(name), (1...15).contains(item.utf8.count),
            item.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(item)
    }

    /// Returns an item without its parameters.
    private func structuredItem(_ name: HTTPField.Name) -> Substring? {
        guard let value = self[name] else { return nil }
        let item = value.drop { $0 == " " }.prefix { $0 != ";" }
        return item.last == " "
            ? item[..<(item.lastIndex { $0 != " " }.map(item.index(after:)) ?? item.startIndex)] : item
    }

    mutating func setBoolean(_ name: HTTPField.Name, _ value: Bool) { self[name] = value ? "?1" : "?0" }

    /// Sets whether an upload is complete, in the field of a version.
    mutating func setComplete(_ isComplete: Bool, _ version: UploadVersion?) {
        if version == .v3 {
            setBoolean(.uploadIncomplete, !isComplete)
        } else {
            setBoolean(.uploadComplete, isComplete)
        }
    }
}

extension UploadLimits {
    /// Returns the value of `Upload-Limit`.
    func field(_ version: UploadVersion?, age: Duration) -> String {
        let rest = max(0, (lifetime - age).components.seconds)
        // Draft 06 renamed the member.
        var members = [
            "max-size=\(maximumByteCount)", "\(version.map { $0 < .v7 } ?? false ? "expires" : "max-age")=\(rest)",
        ]
        if let maximumAppendByteCount { members.append("max-append-size=\(maximumAppendByteCount)") }
        return members.joined(separator: ", ")
    }
}
