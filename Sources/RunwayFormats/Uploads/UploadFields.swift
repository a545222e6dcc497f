package import HTTPTypes

extension HTTPField.Name {
    package static let uploadComplete = Self("Upload-Complete", known: ())
    /// The opposite of ``uploadComplete``, in the first drafts.
    package static let uploadIncomplete = Self("Upload-Incomplete", known: ())
    package static let uploadOffset = Self("Upload-Offset", known: ())
    package static let uploadLength = Self("Upload-Length", known: ())
    package static let uploadLimit = Self("Upload-Limit", known: ())
    package static let uploadDraftInteropVersion = Self("Upload-Draft-Interop-Version", known: ())
    package static let acceptPatch = Self("Accept-Patch", known: ())
}

/// The version of the draft that a client speaks (draft-ietf-httpbis-resumable-upload, "Draft Version Identification").
package enum UploadVersion: Int, Comparable, Sendable {
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

    package static let newest = Self.v8

    package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

/// The fields of a request or a response of a resumable upload (draft-ietf-httpbis-resumable-upload). A field with an
/// invalid value counts as absent.
package struct UploadFields: Sendable, Equatable {
    /// The media type of a part of an upload.
    package static let partType = "application/partial-upload"

    /// The version of the draft; `nil` if the message names no known version.
    package var version: UploadVersion?
    /// The number of bytes that the server has, or the position at which the content of a request begins.
    package var offset: Int?
    /// Whether the server has the whole upload, or whether the request has the rest of it.
    package var isComplete: Bool?
    /// The length of the whole upload.
    package var length: Int?
    /// The length of the content of this message.
    package var contentLength: Int?
    /// The most bytes that the server accepts in one request.
    package var maximumAppendByteCount: Int?
    /// The most bytes that the server accepts in all.
    package var maximumByteCount: Int?

    /// Reads the fields of a request. Only a client of the first draft says that an upload is incomplete.
    package init(request fields: HTTPFields) {
        self.init(fields)
        isComplete = version == .v3 ? fields.isUploadIncomplete.map { !$0 } : fields.isUploadComplete
    }

    /// Reads the fields of a response. Final responses of swift-nio-extras 1.35 have the name of the first draft.
    package init(response fields: HTTPFields) {
        self.init(fields)
        isComplete = fields.isUploadComplete ?? fields.isUploadIncomplete.map { !$0 }
    }

    private init(_ fields: HTTPFields) {
        version = fields.integer(.uploadDraftInteropVersion).flatMap { UploadVersion(rawValue: $0) }
        offset = fields.integer(.uploadOffset)
        length = fields.integer(.uploadLength)
        contentLength = fields[.contentLength].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
        maximumAppendByteCount = fields.uploadLimit("max-append-size")
        maximumByteCount = fields.uploadLimit("max-size")
    }
}

extension HTTPFields {
    /// Sets whether an upload is complete, in the fields of a version.
    package mutating func setComplete(_ isComplete: Bool, _ version: UploadVersion?) {
        if version == .v3 {
            self[.uploadIncomplete] = isComplete ? "?0" : "?1"
        } else {
            self[.uploadComplete] = isComplete ? "?1" : "?0"
        }
    }

    fileprivate var isUploadComplete: Bool? { boolean(.uploadComplete) }
    fileprivate var isUploadIncomplete: Bool? { boolean(.uploadIncomplete) }

    /// Returns a member of `Upload-Limit`, a dictionary of integers.
    fileprivate func uploadLimit(_ name: String) -> Int? {
        guard let value = self[.uploadLimit], value.utf8.count <= 1024 else { return nil }
        for member in value.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed == name else { continue }
            return Self.integer(parts[1].prefix { $0 != ";" }.trimmed)
        }
        return nil
    }

    /// Returns the value of an item that is a Boolean (RFC 9651 §3.3.6); `nil` for any other item.
    private func boolean(_ name: HTTPField.Name) -> Bool? {
        switch item(name) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Returns the value of an item that is an integer of at least zero (RFC 9651 §3.3.1); `nil` for any other item.
    fileprivate func integer(_ name: HTTPField.Name) -> Int? { item(name).flatMap(Self.integer) }

    private static func integer(_ text: Substring) -> Int? {
        guard (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// Returns an item without its parameters.
    private func item(_ name: HTTPField.Name) -> Substring? { self[name].map { $0.prefix { $0 != ";" }.trimmed } }
}

extension Substring {
    /// The text without the blanks at its ends.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
