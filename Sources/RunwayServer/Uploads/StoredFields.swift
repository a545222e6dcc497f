import HTTPTypes
import RunwayFormats

/// The header fields of an upload's first request that are stored and passed to the app.
///
/// This is a list of permitted fields, since an app's clients may authenticate in any field. All other fields come from
/// the last request: credentials are never stored, and are checked when the upload takes effect.
struct StoredFields: Sendable {
    /// Fields that describe the content or set conditions (RFC 9110 §8, §12.5 and §13.1, RFC 9530, RFC 6266, RFC 7240),
    /// the key of an unsafe request, and the name of the client software.
    private static let standard: Set<HTTPField.Name> = [
        .contentType, .contentEncoding, .contentLanguage, .contentLocation, .contentDisposition, contentDigest,
        HTTPField.Name("Repr-Digest", known: ()), HTTPField.Name("Want-Repr-Digest", known: ()),
        HTTPField.Name("Want-Content-Digest", known: ()), .lastModified,
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        .accept, HTTPField.Name("Accept-Charset", known: ()), .acceptEncoding, .acceptLanguage,
        HTTPField.Name("Prefer", known: ()), .idempotencyKey, .userAgent, .date,
    ]

    /// The digest of one message's content (RFC 9530 §2).
    private static let contentDigest = HTTPField.Name("Content-Digest", known: ())

    /// The fields that concern only one message, or the upload protocol.
    private static let ofMessage: Set<HTTPField.Name> = [
        .contentLength, .expect,
        .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadDraftInteropVersion,
    ]

    private let names: Set<HTTPField.Name>

    /// - Parameter others: Additional fields that the app permits.
    init(and others: Set<HTTPField.Name>) { names = Self.standard.union(others) }

    /// Returns the fields to store with an upload.
    ///
    /// - Parameter isWhole: Whether the request contains the whole upload, so that the digest of its content is also
    ///   the digest of the upload.
    func stored(of fields: HTTPFields, isWhole: Bool) -> [UploadRecord.Field] {
        fields.filter { names.contains($0.name) && (isWhole || $0.name != Self.contentDigest) }
            .map { UploadRecord.Field(name: $0.name.rawName, value: $0.value) }
    }

    /// Returns the head of the request that is passed to the app.
    ///
    /// - Parameter last: The request that completes the upload.
    func head(of record: UploadRecord, byteCount: Int, completedBy last: HTTPRequest) -> HTTPRequest {
        var head = HTTPRequest(
            method: HTTPRequest.Method(record.method) ?? .post, scheme: record.scheme, authority: record.authority,
            path: record.path)
        // Each field is checked again, since more fields may have been permitted when the record was stored.
        for field in record.fields {
            if let name = HTTPField.Name(field.name), names.contains(name) {
                head.headerFields.append(HTTPField(name: name, value: field.value))
            }
        }
        for field in last.headerFields
        where !names.contains(field.name) && !Self.ofMessage.contains(field.name) && !field.name.isHopByHop {
            head.headerFields.append(field)
        }
        head.headerFields[.contentLength] = String(byteCount)
        return head
    }
}
