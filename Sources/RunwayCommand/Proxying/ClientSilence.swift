import Runway

/// What ends a request whose client sends nothing more of it.
struct ClientSilence: DescribedError {
    var description: String { "The client was silent for too long in the body of its request." }
}
