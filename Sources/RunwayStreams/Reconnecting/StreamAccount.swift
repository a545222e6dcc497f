package import Runway
import Synchronization

/// The account of a stream, a WebSocket or a chat client, and whether it is signed in.
///
/// The data of the server and of the app belong to this account. No other account continues the stream.
package final class StreamAccount: Sendable {
    private let subject: String
    private let service: any APIService.Type
    private let network: NetworkLayer
    private let isBoundLater: Bool
    /// Guards the name of the account; `nil` if nobody was signed in.
    private let name: Mutex<String?>

    /// Creates a value that belongs to the account that is signed in now.
    ///
    /// - Parameters:
    ///   - subject: The thing that belongs to the account, for the message of ``absence``.
    ///   - service: The service that the account is signed in to.
    ///   - network: The layer.
    ///   - isBoundLater: Whether the value belongs to the first account that signs in later, if nobody is signed in
    ///     now. The default is `false`: a stream that started without an account continues when an account signs in.
    package init(
        _ subject: String, of service: any APIService.Type, on network: NetworkLayer, isBoundLater: Bool = false
    ) {
        (self.subject, self.service, self.network, self.isBoundLater) = (subject, service, network, isBoundLater)
        name = Mutex(network.settings(of: service).account)
    }

    package var isPresent: Bool {
        let present = network.settings(of: service).account
        return name.withLock { name in
            if isBoundLater { name = name ?? present }
            return name == nil || name == present
        }
    }

    /// The error that ends a stream when its account is not signed in.
    var absence: NetworkError {
        NetworkError(
            .cancelled, in: .authorizing, "The account of the \(subject) signed out, or another signed in.",
            sending: .notSent)
    }

    package func check() throws(NetworkError) { if !isPresent { throw absence } }

    /// Returns a call of the current session that is never sent. Its `isSignedOut` shows whether this session has
    /// ended, even if the same account has signed in again.
    func makeSessionFlight() -> Flight { network.makeExchange(with: service, .standard) }
}
