import RunwayServer
import RunwayStorage
import Testing

/// What the offline queue of a client and the idempotency keys of a server promise each other.
struct KeyLifetimeTests {
    /// A change that is sent after the server has forgotten its key has a second effect. The day between the two is for
    /// clocks that differ, and for an attempt that began in time.
    @Test func keysOutliveTheChangesOfAQueue() {
        #expect(IdempotencyRules().lifetime >= OfflineQueueOptions().maximumAge + .seconds(86_400))
    }
}
