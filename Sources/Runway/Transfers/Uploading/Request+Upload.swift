import HTTPTypes
import RunwayFormats

extension Request {
    /// Returns a request to the URL of an upload, without a body; `nil` if the URL is not one of the same origin.
    ///
    /// The request has the fields of the request that created the upload, such as those that authenticate, without
    /// those that describe its body and the conditions of its effect.
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

    /// Returns the request that cancels an upload.
    func deletingUpload(at location: String, _ policy: UploadResumption) -> Request? {
        guard var request = forUpload(at: location, policy) else { return nil }
        request.head.method = .delete
        request.delivery = .streamed
        return request
    }
}
