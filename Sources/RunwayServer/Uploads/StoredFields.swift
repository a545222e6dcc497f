import HTTPTypes
import RunwayFormats

/// The header fields of an upload's first request that are stored, and that the app's request contains.
///
/// The type lists allowed fields, since nobody knows in which fields an app's clients authenticate. All other fields
/// come from the last request: credentials are never stored, and are judged when the upload takes effect.
struct StoredFields: Sendable {
    /// Fields that describe the content or ask for conditions (RFC 9110 §8, §12.5 and §13.1, RFC 9530, RFC 6266, RFC
    /// 7240), the key of an unsafe request, and the name of the client software.
    private static let standard: Set<HTTPField.Name> = [
        .contentType, .contentEncoding, .contentLanguage, .contentLocation, .contentDisposition, contentDigest,
        HTTPField.Name("Repr-Digest", known: ()), HTTPField.Name("Want-Repr-Digest", known: ()),
        HTTPField.Name("Want-Content-Digest", known: ()), .lastModified,
        .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
        .accept, HTTPField.Name("Accept-Charset", known: ()), .acceptEncoding, .acceptLanguage,
        HTTPField.Name("Prefer", known: ()), .idempotencyKey, .userAgent, .date,
    ]

    /// The digest of the content of one request (RFC 9530 §2).
    private static let contentDigest = HTTPField.Name("Content-Digest", known: ())

    /// The fields that belong to one message, or to the upload.
    private static let ofMessage: Set<HTTPField.Name> = [
        .contentLength, .expect,
        .uploadComplete, .uploadIncomplete, .uploadOffset, .uploadLength, .uploadDraftInteropVersion,
    ]

    private let names: Set<HTTPField.Name>

    /// - Parameter others: Fields that the app allows in addition.
    init(and others: Set<HTTPField.Name>) { names = Self.standard.union(others) }

    /// Returns the fields that are stored with an upload.
    ///
    /// - Parameter isWhole: Whether the content of the request is the whole upload, so that its digest is the upload's
    ///   digest.
    func stored(of fields: HTTPFields, isWhole: Bool) -> [UploadRecord.Field] {
        fields.filter { names.contains($0.name) && (isWhole || $0.name != Self.contentDigest) }
            .map { UploadRecord.Field(name: $0.name.rawName, value: $0.value) }
    }

    /// Returns the head of the request that the app receives.
    ///
    /// - Parameter last: The request that completes the upload.
    func head(of record: UploadRecord, byteCount: Int, completedBy last: HTTPRequest) -> HTTPRequest {
        var head = HTTPRequest(
            method: HTTPRequest.Method(record.method) ?? .post, scheme: record.scheme, authority: record.authority,
            path: record.path)
        // The server may have stored the record when more fields were allowed.
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
