import Foundation
import RunwayJSON

/// The latencies of addresses on several networks, in the form that is stored between launches.
///
/// A network is identified by a salted digest, so that the file and its backups do not reveal where the device was.
struct HostMeasurements: Sendable {
    struct AddressKey: Hashable, Sendable {
        var network: String
        var host: String
        var address: IPAddress
    }

    struct Measurement: Sendable, Equatable {
        /// The smoothed round-trip time of connecting, in seconds.
        var latency: Double
        /// The time of the measurement, in seconds since 1970.
        var date: Double
    }

    /// The maximum number of measurements. The oldest is removed first.
    static let maximumCount = 1024
    /// The time for which a measurement is stored: 30 days, in seconds.
    static let maximumAge = 30 * 86_400.0
    /// The maximum size of the file in bytes.
    static let maximumByteCount = 512 << 10
    private static let digestByteCount = 16
    /// The maximum latency that is stored, in seconds.
    private static let longestLatency = 60.0

    private(set) var measurements: [AddressKey: Measurement] = [:]
    private let salt: String

    init() {
        var generator = SystemRandomNumberGenerator()
        salt = (0..<Self.digestByteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }.hexadecimal
    }

    /// Returns the digest that identifies a network, or `nil` if the network has no identity.
    func name(of network: NetworkKey) -> String? {
        guard let identity = network.identity else { return nil }
        var hash = SHA256Hash()
        let generation = network.generation.map { "\($0)" } ?? ""
        hash.update(Array("\(salt)\n\(network.link.rawValue)\n\(generation)\n\(identity)".utf8))
        return Array(hash.digest.prefix(Self.digestByteCount)).hexadecimal
    }

    /// Inserts a measurement, or replaces the previous one of the same address. Ignores measurements of invalid host
    /// names.
    mutating func insert(_ measurement: Measurement, for key: AddressKey) {
        guard HostListPolicy.isHostName(key.host) else { return }
        measurements[key] = Measurement(
            latency: min(measurement.latency, Self.longestLatency), date: measurement.date)
        guard measurements.count > Self.maximumCount else { return }
        let oldest = measurements.min { $0.value.date < $1.value.date }?.key
        if let oldest { measurements.removeValue(forKey: oldest) }
    }

    mutating func remove(_ key: AddressKey) { measurements.removeValue(forKey: key) }

    /// Removes measurements that are older than ``maximumAge``.
    mutating func removeOld(at date: Double) {
        measurements = measurements.filter { date - $0.value.date < Self.maximumAge }
    }
}

// The format of the file:
// {"version":1,"salt":"…","measurements":[{"network":"…","host":"…","address":"…","latency":0.02,"date":1700000000}]}
extension HostMeasurements {
    var json: [UInt8] {
        // Names, digests and addresses contain no characters that JSON would escape.
        let entries = measurements.map { key, measurement in
            "{\"network\":\"\(key.network)\",\"host\":\"\(key.host)\",\"address\":\"\(key.address)\","
                + "\"latency\":\(measurement.latency),\"date\":\(measurement.date)}"
        }
        return Array("{\"version\":1,\"salt\":\"\(salt)\",\"measurements\":[\(entries.joined(separator: ","))]}".utf8)
    }

    /// Parses the bytes of a file. Returns `nil` if they are malformed.
    init?(json bytes: [UInt8]) {
        guard let root = try? JSONDocument(bytes, limits: JSONLimits(maximumDepth: 8)).root, root["version"].int == 1,
            let salt = root["salt"].string, Self.isDigest(salt), root["measurements"].kind == .array,
            root["measurements"].count <= Self.maximumCount
        else { return nil }
        self.salt = salt
        for element in root["measurements"].elements {
            guard let network = element["network"].string, Self.isDigest(network),
                let host = element["host"].string, HostListPolicy.isHostName(host),
                let address = element["address"].string.flatMap({ IPAddress($0) }),
                let latency = element["latency"].double, latency > 0, latency <= Self.longestLatency,
                let date = element["date"].double, date.isFinite
            else { return nil }
            measurements[AddressKey(network: network, host: host, address: address)] = Measurement(
                latency: latency, date: date)
        }
    }

    private static func isDigest(_ text: String) -> Bool {
        text.utf8.count == 2 * digestByteCount && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}
