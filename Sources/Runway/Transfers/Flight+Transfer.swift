import HTTPTypes

extension Flight {
    /// The digest of the source of a download: the service with its settings, the account, and the request. None of
    /// these can be derived from it.
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

extension NetworkError {
    /// Whether it interrupts a transfer that may continue. A truncated response is reported as invalid HTTP.
    var isInterruption: Bool { [.noNetwork, .timedOut, .invalidResponse].contains(kind) }
}
