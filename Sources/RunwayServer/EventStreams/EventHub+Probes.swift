import Crypto
import Foundation
import Synchronization

// A client probes its connection with a request that may reach a process other than the one that has the connection.
// The processes forward the probe with these signals:
//
//     probe <connection> <digest of the owner> <probe>     to all processes
//     alive <probe> <offset of the connection>             from the process that has the owner's connection
extension EventHub {
    /// The maximum number of probes that wait for other processes; further ones fail immediately. With a probe, a
    /// client asks whether its connection still exists.
    private static let maximumProbeCount = 1000
    /// The maximum number of simultaneous probes of connections that belong to one owner.
    private static let maximumProbeCountPerOwner = 16

    /// Asks the other processes to send a heartbeat on a connection, if the connection belongs to `owner`.
    ///
    /// - Returns: The offset of the connection, or `nil` if no process responds within 5 s. A connection of another
    ///   owner and an unknown connection are not distinguished.
    func probeOtherProcesses(for connection: String, owner: String) async -> Int64? {
        guard let shared = log as? any SharedEventLog, UUID(uuidString: connection) != nil else { return nil }
        let probe = UUID().uuidString.lowercased()
        let alarm = Task { [weak self, clock] in
            try? await clock.sleep(EventHubOptions.probeTimeout)
            self?.endProbe(probe, nil)
        }
        defer { alarm.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAdded = state.withLock { state in
                    guard !Task.isCancelled, state.probes.count < Self.maximumProbeCount,
                        state.probes.values.count(where: { $0.owner == owner }) < Self.maximumProbeCountPerOwner
                    else { return false }
                    state.probes[probe] = (owner, continuation)
                    return true
                }
                guard isAdded else { return continuation.resume(returning: nil) }
                // The signal is not awaited, since the log may hang.
                Task {
                    do { try await shared.signal("probe \(connection) \(Self.digest(of: owner)) \(probe)") } catch {
                        endProbe(probe, nil)
                    }
                }
            }
        } onCancel: {
            endProbe(probe, nil)
        }
    }

    /// Handles a signal from any process, including this one.
    func take(_ signal: String) {
        let words = signal.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("probe", 4): respond(to: words[3], of: words[1], words[2])
        case ("alive", 3): endProbe(words[1], Int64(words[2]))
        default: wake()
        }
    }

    private func respond(to probe: String, of connection: String, _ owner: String) {
        guard let shared = log as? any SharedEventLog, let connection = self.connection(connection),
            connection.end == nil, Self.digest(of: connection.owner) == owner
        else { return }
        connection.queueHeartbeat()
        // If the signal is lost, the client reconnects.
        Task { try? await shared.signal("alive \(probe) \(connection.offset)") }
    }

    private func endProbe(_ probe: String, _ offset: Int64?) {
        state.withLock { $0.probes.removeValue(forKey: probe) }?.continuation.resume(returning: offset)
    }

    /// Returns a digest of an owner's name. A signal has a limited length, while names do not.
    private static func digest(of owner: String) -> String {
        Data(SHA256.hash(data: Data(owner.utf8))).base64EncodedString()
    }
}
