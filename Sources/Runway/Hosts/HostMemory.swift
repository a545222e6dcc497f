import Foundation
import Synchronization

/// Remembers measurements of addresses across launches, for each network, in a file that only the user may read.
///
/// Changes are written together, ten seconds after the first of them.
final class HostMemory: Sendable {
    private struct State {
        var measurements = HostMeasurements()
        var error: NetworkError?
        var isStoringLater = false
    }

    /// The time for which changes are collected before they are written.
    static let pause = Duration.seconds(10)

    private let path: String
    private let clock: LayerClock
    /// Guards the measurements, and the error of their file.
    private let state: Mutex<State>
    /// Serialises the writes.
    private let disk = DiskQueue()

    /// Reads the file synchronously. One that can't be read or is malformed is replaced by the next write.
    init(_ path: String, clock: LayerClock) {
        self.path = path
        self.clock = clock
        var state = State()
        do throws(FileError) {
            if let bytes = try PrivateFile(reading: path)?.read(upTo: HostMeasurements.maximumByteCount) {
                guard let measurements = HostMeasurements(json: bytes) else {
                    throw FileError(path, "can't be read", reason: "it does not hold measurements of hosts")
                }
                state.measurements = measurements
                state.measurements.removeOld(at: clock.date.timeIntervalSince1970)
            }
        } catch {
            state.error = NetworkError(error, in: .routing)
        }
        self.state = Mutex(state)
    }

    /// The last failure to read or write the file; `nil` if there was none.
    var error: NetworkError? { state.withLock { $0.error } }

    /// Returns the records of a host's addresses on a network, with their instants on the clock.
    func records(of host: String, on network: NetworkKey) -> [IPAddress: AddressRecord] {
        let (now, date) = (clock.now, clock.date.timeIntervalSince1970)
        return state.withLock { state in
            guard let name = state.measurements.name(of: network) else { return [:] }
            let known = state.measurements.measurements.filter { $0.key.network == name && $0.key.host == host }
            return [IPAddress: AddressRecord](
                uniqueKeysWithValues: known.map { place, measurement in
                    // A date in the future was set by a wrong clock.
                    let age = Duration.seconds(max(0, date - measurement.date))
                    return (place.address, AddressRecord(latency: measurement.latency, measured: now - age))
                })
        }
    }

    /// Remembers a latency, in seconds; `nil` removes the latency of the address.
    func set(_ latency: Double?, of address: IPAddress, of host: String, on network: NetworkKey) {
        let date = clock.date.timeIntervalSince1970
        let storesLater = state.withLock { state in
            guard let name = state.measurements.name(of: network) else { return false }
            let key = HostMeasurements.AddressKey(network: name, host: host, address: address)
            if let latency {
                state.measurements.insert(.init(latency: latency, date: date), for: key)
            } else {
                state.measurements.remove(key)
            }
            defer { state.isStoringLater = true }
            return !state.isStoringLater
        }
        guard storesLater else { return }
        Task { [weak self, clock] in
            try? await clock.sleep(until: clock.now + Self.pause)
            await self?.store()
        }
    }

    /// Writes the file now. A failure is in ``error``.
    func store() async {
        state.withLock { $0.isStoringLater = false }
        let error: NetworkError?
        do throws(FileError) {
            try await disk.run { [self] () throws(FileError) in
                try PrivateFile.replace(path, with: state.withLock { $0.measurements.json })
            }
            error = nil
        } catch let failure {
            error = NetworkError(failure, in: .routing)
        }
        if let error { state.withLock { $0.error = error } }
    }
}
