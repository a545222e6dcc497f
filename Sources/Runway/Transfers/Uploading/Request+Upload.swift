import HTTPTypes
import RunwayFormats

extension Request {
    /// Returns a request to the URL of an upload, without a body. Returns `nil` if the URL has another origin.
    ///
    /// The request has the same fields as the request that created the upload, for example fields with credentials, but
    /// no preconditions and no fields that describe the body.
    func forUpload(at location: String, _ policy: UploadResumption) -> Request? {
        guard let target = try? HTTPTarget(URIReference(location.utf8)) else { return nil }
        var request = self
        request.head.point(to: target)
        guard Origin(request.head) == Origin(head) else { return nil }
        let fields = head.headerFields.filter { field in
            let name = field.name.canonicalName
            return !name.hasPrefix("content-") && !name.hasPrefix("if-") && !name.hasPrefix("upload-")
                && !["range", "expect", "idempotency-key", "repr-digest", "want-repr-digest"].contains(name)
        }
        request.head.headerFields = HTTPFields(fields)
        request.head.headerFields[.uploadDraftInteropVersion] = String(policy.interopVersion)
        request.body = .none
        return request
    }

    func deletingUpload(at location: String, _ policy: UploadResumption) -> Request? {
        guard var request = forUpload(at: location, policy) else { return nil }
        request.head.method = .delete
        request.delivery = .streamed
        return request
    }
}
