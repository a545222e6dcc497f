/// What ends a request whose client sends nothing more of it.
struct ClientSilence: Error, CustomStringConvertible {
    var description: String { "The client was silent for too long in the body of its request." }
}
