import Runway

/// The error of a request whose client sends no more of it.
struct ClientSilence: DescribedError {
    var description: String { "The client was silent for too long in the body of its request." }
}
