import HTTPTypes

extension Flight {
    /// Returns the digest of a download's source, which consists of the service with its settings, the account, and the
    /// request. The digest does not reveal them.
    func sourceName(of request: Request) -> String {
        let parts = [service.name, environment.name, account ?? "", request.head.method.rawValue, request.url]
        var hash = SHA256Hash()
        for part in parts {
            // Each part is preceded by its length, so that different lists of parts never result in the same text.
            hash.update(Array("\(part.utf8.count):\(part)".utf8))
        }
        return hash.digest.hexadecimal
    }
}

extension NetworkError {
    /// Whether the error interrupts a transfer that may continue. A truncated response is reported as an invalid
    /// response.
    var isInterruption: Bool { outlook.obstacle == .connection || kind == .invalidResponse }
}
