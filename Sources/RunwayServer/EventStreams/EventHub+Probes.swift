import Crypto
import Foundation
import Synchronization

// A client probes its connection by a request that may reach another process than the one with the connection. The processes pass the probe on:
//
//     probe <connection> <digest of the owner> <probe>     to all processes
//     alive <probe> <offset of the connection>             from the one that has the connection of this owner
extension EventHub {
    /// The most probes that wait for other processes; further ones fail at once.
    private static let maximumProbeCount = 1000
    /// The most probes of one owner at a time; see ``maximumProbeCount``.
    private static let maximumProbeCountPerOwner = 16

    /// Makes the process with a connection send a heartbeat on it, if the connection belongs to `owner`.
    ///
    /// - Returns: The offset of the connection; `nil` if no process responds within 5 s. The result is the same for a
    ///   connection of another owner and for one that does not exist.
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
                // A log may take for ever to send it.
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

    /// Processes a signal that another process, or this one, has sent.
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
        // If it is lost, the client connects again.
        Task { try? await shared.signal("alive \(probe) \(connection.offset)") }
    }

    private func endProbe(_ probe: String, _ offset: Int64?) {
        state.withLock { $0.probes.removeValue(forKey: probe) }?.continuation.resume(returning: offset)
    }

    /// Returns a digest of the name of an owner: a signal has a limited length, and the name does not.
    private static func digest(of owner: String) -> String {
        Data(SHA256.hash(data: Data(owner.utf8))).base64EncodedString()
    }
}
