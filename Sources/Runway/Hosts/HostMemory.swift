import Foundation
import Synchronization

/// Stores measurements of addresses between launches, for each network, in a file that only the user may read.
///
/// Changes are collected and written ten seconds after the first one.
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
    /// Guards the measurements and the error of their file.
    private let state: Mutex<State>
    private let disk = DiskQueue()

    /// Reads the file synchronously. If the file can't be read or is malformed, the next write replaces it.
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

    /// The last error of reading or writing the file; `nil` if no error occurred.
    var error: NetworkError? { state.withLock { $0.error } }

    /// Returns the stored records of a host's addresses on a network. Dates are converted to times of the layer's
    /// clock.
    func records(of host: String, on network: NetworkKey) -> [IPAddress: AddressRecord] {
        let (now, date) = (clock.now, clock.date.timeIntervalSince1970)
        return state.withLock { state in
            guard let name = state.measurements.name(of: network) else { return [:] }
            let known = state.measurements.measurements.filter { $0.key.network == name && $0.key.host == host }
            return [IPAddress: AddressRecord](
                uniqueKeysWithValues: known.map { place, measurement in
                    // If the date is in the future, the clock was wrong when the measurement was stored.
                    let age = Duration.seconds(max(0, date - measurement.date))
                    return (place.address, AddressRecord(latency: measurement.latency, measured: now - age))
                })
        }
    }

    /// Stores the latency of an address in seconds. If the latency is `nil`, removes the stored one.
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

    /// Writes the file now. If that fails, ``error`` states the reason.
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
