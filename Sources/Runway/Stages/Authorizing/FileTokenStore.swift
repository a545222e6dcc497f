public import Foundation

/// Stores access tokens, and the signed-in accounts, in files that only the user of the process can read. There is one
/// file for each token and one for each service, with mode 0600, in a folder with mode 0700.
///
/// A file is written under another name and then renamed, so that after a crash either the old or the new file exists.
/// Loading fails if a file is truncated or modified, belongs to another key or owner, is not a regular file, or is
/// readable by others. It fails until a new token is saved or the file is removed.
///
/// ```swift
/// let network = NetworkLayer(transport: transport, tokens: FileTokenStore(folder: folder))
/// ```
public struct FileTokenStore: TokenStore {
    /// The maximum size of a file that is read, in bytes.
    public static let maximumByteCount = 1 << 20

    /// The folder that contains the token files.
    public let folder: URL

    /// Creates a store of tokens in a folder. The folder and its missing parents are created when the first token is
    /// saved.
    ///
    /// - Parameter folder: The folder. If it exists, it must have mode 0700 and belong to the user.
    public init(folder: URL) { self.folder = folder }

    /// The content of a token's file after the first line, which is a checksum.
    private struct Content: Codable {
        var key: TokenKey
        var token: AccessToken

        private enum CodingKeys: String, CodingKey {
            // The name must equal the name in files of earlier versions.
            case key = "place"
            case token
        }
    }

    /// The content of an account's file after the first line, which is a checksum.
    private struct SignedIn: Codable {
        var key: AccountKey
        var account: String
    }

    /// Loads a token, or returns `nil` if none is stored.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func load(_ key: TokenKey) throws -> AccessToken? {
        let path = path(of: key)
        guard let content = try read(Content.self, as: .token, at: path) else { return nil }
        guard content.key == key else { throw Self.foreign(.token, path) }
        return content.token
    }

    /// Stores a token.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func save(_ token: AccessToken, at key: TokenKey) throws {
        try write(Content(key: key, token: token), as: .token, at: path(of: key))
    }

    /// Removes a token. Does nothing if none is stored.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func remove(_ key: TokenKey) throws {
        try Self.translated { () throws(FileError) in try PrivateFile.remove(path(of: key)) }
    }

    /// Returns the account that was last signed in to a service, or `nil` if none was signed in.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func signedInAccount(at key: AccountKey) throws -> String? {
        let path = path(of: key)
        guard let content = try read(SignedIn.self, as: .account, at: path) else { return nil }
        guard content.key == key else { throw Self.foreign(.account, path) }
        return content.account
    }

    /// Stores the account that is signed in to a service; `nil` if none is signed in.
    ///
    /// - Throws: ``NetworkError/Kind/storage``.
    public func setSignedInAccount(_ account: String?, at key: AccountKey) async throws {
        let path = path(of: key)
        if let account { return try write(SignedIn(key: key, account: account), as: .account, at: path) }
        try Self.translated { () throws(FileError) in try PrivateFile.remove(path) }
    }

    /// The kind of a file. The raw value is the extension of the file's name, and error messages contain it.
    private enum Kind: String {
        case token, account
    }

    private func read<Value: Decodable>(_ type: Value.Type, as kind: Kind, at path: String) throws -> Value? {
        let bytes: [UInt8]? = try Self.translated { () throws(FileError) in
            guard let file = try PrivateFile(reading: path) else { return nil }
            try PrivateFile.checkFolder((path as NSString).deletingLastPathComponent)
            return try file.read(upTo: Self.maximumByteCount)
        }
        guard let bytes else { return nil }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { throw Self.damaged(kind, path) }
        let json = Array(bytes[(end + 1)...])
        guard Array(bytes[..<end]) == Array(Self.firstLine(of: json, kind).utf8),
            let content = try? JSONDecoder().decode(type, from: Data(json))
        else { throw Self.damaged(kind, path) }
        return content
    }

    private func write(_ content: some Encodable, as kind: Kind, at path: String) throws {
        let json = Array(try JSONEncoder().encode(content))
        try Self.translated { () throws(FileError) in
            try PrivateFile.makeFolder((path as NSString).deletingLastPathComponent, below: folder.path)
            try PrivateFile.replace(
                path, with: Array(Self.firstLine(of: json, kind).utf8) + [UInt8(ascii: "\n")] + json)
        }
    }

    /// Returns the path of a token. Different keys have different paths, even on file systems that ignore case.
    func path(of key: TokenKey) -> String {
        path([key.network, key.service, key.environment, key.account], .token)
    }

    func path(of key: AccountKey) -> String { path([key.network, key.service, key.environment], .account) }

    private func path(_ parts: [String], _ kind: Kind) -> String {
        let name = parts.map(\.asFileName).joined(separator: "+") + ".\(kind)"
        // A file name may have 255 bytes, so a longer name is split into folders.
        var path = folder.path
        for start in stride(from: 0, to: name.utf8.count, by: 200) {
            path += "/" + String(decoding: Array(name.utf8.dropFirst(start).prefix(200)), as: UTF8.self)
        }
        return path
    }

    private static func firstLine(of json: [UInt8], _ kind: Kind) -> String {
        // FNV-1a detects damage. The mode and the owner of the file protect against forgery.
        let sum = json.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "runway-\(kind)-1 \(String(sum, radix: 16))"
    }

    /// Performs file operations, and throws their failures as errors of the store.
    private static func translated<Value>(
        _ operation: () throws(FileError) -> Value
    ) throws(NetworkError) -> Value {
        do throws(FileError) { return try operation() } catch { throw NetworkError.tokenStore("\(error)") }
    }

    private static func damaged(_ kind: Kind, _ path: String) -> NetworkError {
        NetworkError.tokenStore("The \(kind) in \(path) is truncated or damaged; it is not trusted.")
    }

    private static func foreign(_ kind: Kind, _ path: String) -> NetworkError {
        NetworkError.tokenStore("The \(kind) in \(path) belongs to another key; it is not trusted.")
    }
}

extension String {
    /// The text in lower-case letters, digits and hyphens. Every other byte becomes an underscore and two hexadecimal
    /// digits.
    fileprivate var asFileName: String {
        utf8.reduce(into: "") { name, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                name.unicodeScalars.append(UnicodeScalar(byte))
            default:
                name += (byte < 16 ? "_0" : "_") + String(byte, radix: 16)
            }
        }
    }
}
