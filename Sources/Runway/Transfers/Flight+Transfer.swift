import HTTPTypes

extension Flight {
    /// The digest of what a download is of: the service as it is set up, whose call it is, and the request. It tells nobody what those
    /// are.
    func sourceName(of request: Request) -> String {
        let parts = [service.name, environment.name, account ?? "", request.head.method.rawValue, request.url]
        var hash = SHA256Hash()
        for part in parts {
            // Each with its length, so that no two rows of parts read the same.
            hash.update(Array("\(part.utf8.count):\(part)".utf8))
        }
        return hash.digest.hexadecimal
    }
}
