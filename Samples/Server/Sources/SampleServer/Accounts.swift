import Crypto
import Foundation
import Hummingbird

/// Accounts with their passwords, and the tokens of logins, which a key authenticates.
/// A real server asks its database of users, which has salted hashes of passwords alone, and limits how often one may be tried.
struct Accounts: Sendable {
    static let accessSeconds: Int64 = 900
    /// By their accounts, whose names have letters and digits.
    let passwords: [String: String]
    let key: SymmetricKey

    private func code(of text: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
    }

    /// Compares in a time that does not show how much is right.
    private func isCode(_ code: Data, of text: String) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(text.utf8), using: key)
    }

    func accepts(_ password: String, of name: String) -> Bool {
        passwords[name].map { isCode(code(of: $0), of: password) } ?? false
    }

    func token(_ kind: String, for name: String, seconds: Int64 = accessSeconds) -> String {
        let content = "\(kind).\(Int64(Date().timeIntervalSince1970) + seconds).\(name)"
        return "\(content).\(code(of: content).base64EncodedString())"
    }

    /// The account of a token, and for how long it holds; `nil` if it is not valid.
    func login(_ kind: String, by token: String) -> (name: String, lifetime: Duration)? {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 4, parts[0] == kind, let expiry = Int64(parts[1]), passwords[parts[2]] != nil,
            let code = Data(base64Encoded: parts[3]), isCode(code, of: parts[..<3].joined(separator: "."))
        else { return nil }
        let seconds = expiry - Int64(Date().timeIntervalSince1970)
        return seconds > 0 ? (parts[2], .seconds(seconds)) : nil
    }

    /// Who sends a request. Throws 401, after which clients renew their token and send the request again.
    @Sendable func login(of request: Request) throws -> (name: String, lifetime: Duration) {
        guard let value = request.headers[.authorization], value.hasPrefix("Bearer "),
            let login = login("access", by: String(value.dropFirst("Bearer ".count)))
        else { throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Bearer"]) }
        return login
    }

    /// The conversations of an account: one with each other account, such as `anna-ben`.
    func conversations(of name: String) -> Set<String> {
        Set(passwords.keys.filter { $0 != name }.map { [$0, name].sorted().joined(separator: "-") })
    }
}
