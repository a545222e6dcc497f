import Foundation

/// Reads whole files: the value of an item of the command line, a certificate, a key, or a request.
enum WholeFile {
    static let maximumByteCount = 16 << 20

    /// Reads a file.
    ///
    /// - Parameter option: The option that names the file, for error messages; `nil` if an item of the command line
    ///   names it.
    /// - Throws: ``CommandFailure`` if the file can't be read, or is larger than ``maximumByteCount``.
    static func bytes(_ path: String, of option: String? = nil) throws(CommandFailure) -> [UInt8] {
        let name = name(path, option)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandFailure("\(name) can't be read: \(SystemError.current).") }
        // `Data(contentsOf:)` can't read pipes and devices.
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard let data = try? handle.read(upToCount: maximumByteCount + 1) ?? Data() else {
            throw CommandFailure("\(name) can't be read: \(SystemError(code: EISDIR)).")
        }
        guard data.count <= maximumByteCount else {
            throw CommandFailure("\(name) is larger than \(ByteCount(maximumByteCount)).")
        }
        return Array(data)
    }

    /// Reads a text file.
    ///
    /// - Parameter option: The option that names the file, for error messages; `nil` if an item of the command line
    ///   names it.
    /// - Throws: ``CommandFailure`` if the file can't be read, is larger than ``maximumByteCount``, or is not UTF-8.
    static func text(_ path: String, of option: String? = nil) throws(CommandFailure) -> String {
        guard let text = String(validating: try bytes(path, of: option), as: UTF8.self) else {
            let advice = option == nil ? "; name@file sends any file in a form" : ""
            throw CommandFailure("\(name(path, option)) is not text in UTF-8\(advice).")
        }
        return text
    }

    private static func name(_ path: String, _ option: String?) -> String {
        "The file \"\(path)\"" + (option.map { " of \($0)" } ?? "")
    }
}
