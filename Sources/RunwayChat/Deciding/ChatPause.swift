/// A time before which a call of a conversation is not made again. It is longer after each failure in a row, up to 32
/// s.
struct ChatPause: Sendable {
    var end = Duration.zero
    var failures = 0

    mutating func fail(at now: Duration, _ random: inout any RandomNumberGenerator & Sendable) {
        failures = min(failures + 1, 6)
        // At least a part of the bound, since a call that fails at once would be made again at once.
        end = now + .seconds(1 << (failures - 1)) * Double.random(in: 0.25...1, using: &random)
    }
}
