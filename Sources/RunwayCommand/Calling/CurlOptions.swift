import HTTPTypes
import Runway

/// What a curl command line needs besides the request, to use the same trust and connection settings as the call.
struct CurlOptions {
    var certificateAuthorityFile: String?
    var isHTTP1Only: Bool
    var bodyFile: BodyFile?

    /// The command line of one request that was sent.
    func command(for attempt: FlightRecord.Attempt) -> String {
        var words = [attempt.curlCommand]
        if let certificateAuthorityFile { words.append("--cacert \(certificateAuthorityFile.shellWord)") }
        if isHTTP1Only { words.append("--http1.1") }
        // After a redirect that becomes a GET there is no body any more.
        if let bodyFile, attempt.requestByteCount != 0 {
            if attempt.method == .get { words.append("--request GET") }
            words.append("--data-binary \("@\(bodyFile.path)".shellWord)")
        }
        return words.joined(separator: " ")
    }
}

extension String {
    private static let plainInShells = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@+,".utf8)

    /// The text as one word of a POSIX shell, quoted if needed.
    var shellWord: String {
        !isEmpty && utf8.allSatisfy(Self.plainInShells.contains) ? self : shellQuoted
    }
}
