import RunwayTransport

extension TransportConfiguration.Trust {
    /// The certificate authorities of `--cacert`: those in a file and no others, or without a file the system's.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read or contains none.
    init(cacert path: String?) throws(CommandFailure) {
        guard let path else {
            self = .system
            return
        }
        let text = try TextFile(path: path, of: "--cacert").text
        guard text.contains("-----BEGIN CERTIFICATE-----") else {
            throw CommandFailure("The file \"\(path)\" of --cacert holds no certificate as PEM.")
        }
        self = .certificates(pem: [text])
    }
}
