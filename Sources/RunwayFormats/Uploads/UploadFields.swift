package import HTTPTypes

extension HTTPField.Name {
    package static let uploadComplete = Self("Upload-Complete", known: ())
    /// The opposite of ``uploadComplete``, used in the first drafts.
    package static let uploadIncomplete = Self("Upload-Incomplete", known: ())
    package static let uploadOffset = Self("Upload-Offset", known: ())
    package static let uploadLength = Self("Upload-Length", known: ())
    package static let uploadLimit = Self("Upload-Limit", known: ())
    package static let uploadDraftInteropVersion = Self("Upload-Draft-Interop-Version", known: ())
    package static let acceptPatch = Self("Accept-Patch", known: ())
}

/// The draft version of a client (draft-ietf-httpbis-resumable-upload, "Draft Version Identification").
package enum UploadVersion: Int, Comparable, Sendable {
    /// Draft 01, which has `Upload-Incomplete` instead of `Upload-Complete`.
    case v3 = 3
    /// Drafts 03 and 04.
    case v5 = 5
    /// Draft 05, which adds the media type of partial uploads.
    case v6 = 6
    /// Drafts 06 and 07.
    case v7 = 7
    /// Draft 08 and later ones.
    case v8 = 8

    package static let newest = Self.v8

    package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

/// The header fields of a resumable upload (draft-ietf-httpbis-resumable-upload). An invalid field counts as absent.
package struct UploadFields: Sendable, Equatable {
    /// The media type of a request that contains a part of an upload.
    package static let partType = "application/partial-upload"

    /// The draft version; `nil` if the message names no known version.
    package var version: UploadVersion?
    /// In a response, the number of bytes that the server has. In a request, the position at which its content begins.
    package var offset: Int?
    /// In a response, whether the server has the whole upload. In a request, whether its content is the last part.
    package var isComplete: Bool?
    /// The size of the whole upload in bytes.
    package var length: Int?
    package var contentLength: Int?
    /// The maximum size that the server accepts in one request, in bytes.
    package var maximumAppendByteCount: Int?
    /// The maximum size of an upload that the server accepts, in bytes.
    package var maximumByteCount: Int?

    /// Reads the fields of a request. `Upload-Incomplete` counts only in the first draft.
    package init(request fields: HTTPFields) {
        self.init(fields)
        isComplete = version == .v3 ? fields.isUploadIncomplete.map { !$0 } : fields.isUploadComplete
    }

    /// Reads the fields of a response. `Upload-Incomplete` counts, since swift-nio-extras 1.35 sends it.
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
    /// Sets whether an upload is complete, with the field that a version uses.
    package mutating func setComplete(_ isComplete: Bool, _ version: UploadVersion?) {
        if version == .v3 {
            self[.uploadIncomplete] = isComplete ? "?0" : "?1"
        } else {
            self[.uploadComplete] = isComplete ? "?1" : "?0"
        }
    }

    fileprivate var isUploadComplete: Bool? { boolean(.uploadComplete) }
    fileprivate var isUploadIncomplete: Bool? { boolean(.uploadIncomplete) }

    /// Returns an integer member of the dictionary `Upload-Limit`; `nil` if it is absent.
    fileprivate func uploadLimit(_ name: String) -> Int? {
        guard let value = self[.uploadLimit], value.utf8.count <= 1024 else { return nil }
        for member in value.split(separator: ",") {
            let parts = member.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed == name else { continue }
            return Self.integer(parts[1].prefix { $0 != ";" }.trimmed)
        }
        return nil
    }

    /// Parses a Boolean item (RFC 9651 §3.3.6). Returns `nil` for any other value.
    private func boolean(_ name: HTTPField.Name) -> Bool? {
        switch item(name) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Parses an integer item (RFC 9651 §3.3.1). Returns `nil` for a negative or any other value.
    fileprivate func integer(_ name: HTTPField.Name) -> Int? { item(name).flatMap(Self.integer) }

    private static func integer(_ text: Substring) -> Int? {
        guard (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// Returns the text of a structured field item without its parameters; `nil` if the field is absent.
    private func item(_ name: HTTPField.Name) -> Substring? { self[name].map { $0.prefix { $0 != ";" }.trimmed } }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
