import Foundation
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
        let data: Data
        do {
            // Not Data(contentsOf:), which can't read pipes and devices.
            data = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).readToEnd() ?? Data()
        } catch {
            throw CommandFailure("The file \"\(path)\" of --cacert can't be read: \(SystemError(reading: path)).")
        }
        guard let text = String(validating: data, as: UTF8.self), text.contains("-----BEGIN CERTIFICATE-----") else {
            throw CommandFailure("The file \"\(path)\" of --cacert holds no certificate as PEM.")
        }
        self = .certificates(pem: [text])
    }
}

extension SystemError {
    /// Why a file can't be read.
    fileprivate init(reading path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self = descriptor < 0 ? .current : SystemError(code: EISDIR)
        if descriptor >= 0 { close(descriptor) }
    }
}
