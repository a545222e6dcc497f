import RunwayFormats

extension UploadFields {
    /// Returns the length of the whole upload that the request declares, or `nil` if the request declares no length.
    ///
    /// - Throws: ``UploadProblem/inconsistentLength`` if the request declares two different lengths.
    func length(from offset: Int) throws(UploadProblem) -> Int? {
        guard isComplete == true, let contentLength else { return length }
        let (end, overflows) = offset.addingReportingOverflow(contentLength)
        guard !overflows, length == nil || length == end else { throw .inconsistentLength }
        return end
    }
}

extension UploadLimits {
    func field(_ version: UploadVersion?, age: Duration) -> String {
        let rest = max(0, (lifetime - age).components.seconds)
        // Draft 06 renamed `expires` to `max-age`.
        var members = [
            "max-size=\(maximumByteCount)", "\(version.map { $0 < .v7 } ?? false ? "expires" : "max-age")=\(rest)",
        ]
        if let maximumAppendByteCount { members.append("max-append-size=\(maximumAppendByteCount)") }
        return members.joined(separator: ", ")
    }
}
