import Runway
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

extension CommandFailure {
    /// The failure of a transport that can't be made, which names the file of `--cacert` if there is one.
    init(_ error: NetworkError, cacert path: String?) {
        self.init(path.map { "The file \"\($0)\" of --cacert can't be used: \(error.detail)" } ?? error.detail)
    }
}
