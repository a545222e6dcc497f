package import Runway
import Synchronization

/// The account that a stream, a WebSocket or conversations belong to, and whether it is signed in.
///
/// Data from the server, and from the app, is for that account: no other account continues it.
package final class StreamAccount: Sendable {
    private let subject: String
    private let service: any APIService.Type
    private let network: NetworkLayer
    private let isBoundLater: Bool
    /// Guards the name of the account; `nil` if nobody was signed in.
    private let name: Mutex<String?>

    /// Binds to the account that is signed in now.
    ///
    /// - Parameters:
    ///   - subject: The thing that belongs to the account, for the text of ``absence``.
    ///   - service: The service that the account is signed in to.
    ///   - network: The layer.
    ///   - isBoundLater: Whether to bind to the first account that signs in later, if nobody is signed in now. The
    ///     default is `false`: a stream that began without an account continues, and any account may sign in meanwhile.
    package init(
        _ subject: String, of service: any APIService.Type, on network: NetworkLayer, isBoundLater: Bool = false
    ) {
        (self.subject, self.service, self.network, self.isBoundLater) = (subject, service, network, isBoundLater)
        name = Mutex(network.settings(of: service).account)
    }

    /// Whether the account is signed in.
    package var isPresent: Bool {
        let present = network.settings(of: service).account
        return name.withLock { name in
            if isBoundLater { name = name ?? present }
            return name == nil || name == present
        }
    }

    /// The error with which streams of the account end when it is not signed in.
    var absence: NetworkError {
        NetworkError(
            .cancelled, in: .authorizing, "The account of the \(subject) signed out, or another signed in.",
            sending: .notSent)
    }

    /// Throws ``absence`` if the account is not signed in.
    package func check() throws(NetworkError) { if !isPresent { throw absence } }

    /// Returns a flight of the present session, which is never sent: its `isSignedOut` says whether that session has
    /// ended, even if the same account has signed in again since.
    func makeSessionFlight() -> Flight { network.makeExchange(with: service, .standard) }
}
