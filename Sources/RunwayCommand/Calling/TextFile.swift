import Foundation

/// A file that is read as a whole: the value of an item, a certificate, or a key.
struct TextFile {
    /// The most bytes of a file: 16 MiB.
    static let maximumByteCount = 16 << 20

    /// The content.
    let text: String

    /// Reads a file.
    ///
    /// - Parameter option: The option that names the file, for errors; `nil` for an item.
    /// - Throws: ``CommandFailure`` if it can't be read, is larger than ``maximumByteCount``, or is not UTF-8.
    init(path: String, of option: String? = nil) throws(CommandFailure) {
        let name = "The file \"\(path)\"" + (option.map { " of \($0)" } ?? "")
        let data: Data
        do {
            // Not Data(contentsOf:), which can't read pipes and devices.
            data =
                try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: Self.maximumByteCount + 1)
                ?? Data()
        } catch {
            throw CommandFailure("\(name) can't be read: \(SystemError(reading: path)).")
        }
        guard data.count <= Self.maximumByteCount else {
            throw CommandFailure("\(name) is larger than \(ByteCount(Self.maximumByteCount)).")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw CommandFailure(
                "\(name) is not text in UTF-8\(option == nil ? "; name@file sends any file in a form" : "").")
        }
        self.text = text
    }
}

extension SystemError {
    /// Creates the reason why a file can't be read.
    fileprivate init(reading path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        self = descriptor < 0 ? .current : SystemError(code: EISDIR)
        if descriptor >= 0 { close(descriptor) }
    }
}
