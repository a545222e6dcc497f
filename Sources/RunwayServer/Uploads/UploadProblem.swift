import HTTPTypes
import Hummingbird
import RunwayFormats

/// The reason why a request for an upload is refused, sent as a problem response (`application/problem+json`, RFC
/// 9457).
enum UploadProblem: Error {
    /// The offset in the request differs from the offset of the upload.
    case mismatchingOffset(expected: Int, provided: Int)
    /// The lengths declared by requests differ, or the content is longer than declared.
    case inconsistentLength
    /// The upload is already complete.
    case completed
    /// The request lacks a field that the draft requires, or a field is malformed.
    case malformed(String)
    /// The type of the content is not `application/partial-upload`.
    case mediaType
    /// The client has no upload with this URL.
    case unknown
    /// The upload, or the content of the request, exceeds a limit.
    case tooLarge
    /// The maximum number of uploads is reached.
    case tooMany
    /// The client has reached its maximum number of uploads.
    case tooManyOfClient
    case noSpace
    /// A file cannot be read or written.
    case storage

    private static let registry = "https://iana.org/assignments/http-problem-types#"

    var status: HTTPResponse.Status {
        switch self {
        case .mismatchingOffset: .conflict
        case .inconsistentLength, .completed, .malformed: .badRequest
        case .mediaType: .unsupportedMediaType
        case .unknown: .notFound
        case .tooLarge: .contentTooLarge
        case .tooMany: .serviceUnavailable
        case .tooManyOfClient: .tooManyRequests
        case .noSpace: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .storage: .internalServerError
        }
    }

    private var type: String {
        switch self {
        case .mismatchingOffset: Self.registry + "mismatching-upload-offset"
        case .inconsistentLength: Self.registry + "inconsistent-upload-length"
        case .completed: Self.registry + "completed-upload"
        default: "about:blank"
        }
    }

    private var title: String {
        switch self {
        case .mismatchingOffset: "offset from request does not match offset of resource"
        case .inconsistentLength: "inconsistent length values for upload"
        case .completed: "upload is already completed"
        case .malformed(let reason): reason
        case .mediaType: "the content is not application/partial-upload"
        case .unknown: "there is no such upload"
        case .tooLarge: "the upload or this part of it is too large"
        case .tooMany: "there are too many uploads"
        case .tooManyOfClient: "the client has too many uploads"
        case .noSpace: "there is no space left for uploads"
        case .storage: "the upload can't be stored"
        }
    }

    /// The problem response, to which the caller adds the header fields that describe the upload.
    var response: Response {
        var fields = HTTPFields()
        switch self {
        case .mediaType: fields[.acceptPatch] = UploadFields.partType
        case .tooMany, .tooManyOfClient: fields[.retryAfter] = "60"
        default: break
        }
        return Response(Problem(type: type, title, status), fields) { writer in
            guard case .mismatchingOffset(let expected, let provided) = self else { return }
            writer.member("expected-offset", expected)
            writer.member("provided-offset", provided)
        }
    }
}
