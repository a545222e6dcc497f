import Foundation
import HTTPTypes
import Runway

/// The user name and password of `--auth`, for the `Authorization` field (Basic, RFC 7617).
struct CallAuthorization: Sendable {
    let name: String
    /// The password; `nil` if the command has to ask the user for it.
    let password: String?

    /// Parses `user:password`, or `user` without a password.
    ///
    /// - Throws: ``CommandFailure`` for an empty text. The error never shows the text.
    init(_ text: String) throws(CommandFailure) {
        guard !text.isEmpty else { throw CommandFailure("--auth needs user:password, or a user.") }
        let colon = text.firstIndex(of: ":")
        name = String(colon.map { text[..<$0] } ?? text[...])
        password = colon.map { String(text[text.index(after: $0)...]) }
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isPlain else { throw CommandFailure("The value of --auth has a control character.") }
    }

    /// Returns the value of the `Authorization` field. Asks the user for the password if there is none.
    ///
    /// - Throws: ``CommandFailure`` if there is no terminal at which to ask; `CancellationError` if the task is
    ///   cancelled.
    func fieldValue(for host: String) async throws -> String {
        let secret =
            if let password { password } else { try await Terminal.password("Password for \(name) at \(host): ") }
        return "Basic " + Data("\(name):\(secret)".utf8).base64EncodedString()
    }
}

extension CallSession.Result {
    /// If the server refused the credentials, adds this cause to the error.
    mutating func nameRefusedCredentials() {
        guard var refusal = error as? NetworkError, refusal.status == .unauthorized,
            record.attempts.last?.headerFields[.authorization] != nil
        else { return }
        refusal.detail = "The server refused the credentials with status 401."
        error = refusal
    }
}

/// The terminal of the process. It is available even if the standard streams are redirected.
enum Terminal {
    /// Asks for a password, and reads it without echo. Echo is on again afterwards, even after an error.
    ///
    /// - Throws: ``CommandFailure`` if there is no terminal, or its input ends; `CancellationError` if the task is
    ///   cancelled.
    static func password(_ prompt: String) async throws -> String {
        var descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        // A process without a controlling terminal may still have a terminal as its standard input.
        if descriptor < 0, isatty(STDIN_FILENO) == 1 { descriptor = dup(STDIN_FILENO) }
        var shown = termios()
        guard descriptor >= 0, tcgetattr(descriptor, &shown) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            throw CommandFailure("There is no terminal to ask for the password at; use --auth user:password.")
        }
        var hidden = shown
        hidden.c_lflag &= ~tcflag_t(ECHO)
        hidden.c_lflag |= tcflag_t(ECHONL)
        _ = tcsetattr(descriptor, TCSAFLUSH, &hidden)
        defer {
            _ = tcsetattr(descriptor, TCSAFLUSH, &shown)
            close(descriptor)
        }
        try? descriptor.writeAll(Array(ConsoleText(prompt, for: .error).rendered.utf8))
        // A terminal delivers one line per read.
        guard let line = try await FileReader(descriptor: descriptor).read(1024), line.last == 0x0A,
            let text = String(validating: line.dropLast(), as: UTF8.self)
        else { throw CommandFailure("No password was entered.") }
        return text
    }
}
