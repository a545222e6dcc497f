import Foundation
import HTTPTypes
import Synchronization

/// The hosts that require TLS by HTTP Strict Transport Security (RFC 6797), in memory.
final class StrictTransport: Sendable {
    /// The maximum number of hosts. The host whose policy expires first is evicted first.
    static let maximumCount = 1000

    private struct Entry {
        var expiry: Date
        var includesSubdomains: Bool
    }

    /// Guards the hosts.
    private let state = Mutex<[String: Entry]>([:])

    /// Returns whether a host requires TLS, by its own policy or by the policy of a superdomain that includes
    /// subdomains. The host must be in the form for lookups (``Origin/bareHost``).
    func requiresTLS(_ host: String, at date: Date) -> Bool {
        state.withLock { hosts in
            if hosts.isEmpty { return false }
            var name = host[...]
            while true {
                if let entry = hosts[String(name)], entry.expiry > date, name == host || entry.includesSubdomains {
                    return true
                }
                guard let dot = name.firstIndex(of: ".") else { return false }
                name = name[name.index(after: dot)...]
            }
        }
    }

    /// Stores the policy of a `Strict-Transport-Security` field that was received over TLS. Ignores an invalid field.
    func store(_ field: String, of host: String, at date: Date) {
        guard !host.isAddress, let policy = Self.policy(field) else { return }
        state.withLock { hosts in
            guard policy.maximumAge > 0 else {
                hosts[host] = nil
                return
            }
            hosts[host] = Entry(
                expiry: date.addingTimeInterval(policy.maximumAge), includesSubdomains: policy.includesSubdomains)
            if hosts.count > Self.maximumCount, let first = hosts.min(by: { $0.value.expiry < $1.value.expiry }) {
                hosts[first.key] = nil
            }
        }
    }

    /// Parses a policy (RFC 6797 §6.1). Directives must not be repeated, and `max-age` is required; otherwise returns
    /// `nil`.
    static func policy(_ field: String) -> (maximumAge: TimeInterval, includesSubdomains: Bool)? {
        var directives: [String: String] = [:]
        // The text is split by bytes, because a separator with a combining character is another `Character`.
        for piece in field.utf8.split(separator: UInt8(ascii: ";")) {
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1)
                .map { String(Substring($0).trimmingWhitespace) }
            guard let name = parts.first?.lowercased(), !name.isEmpty else { continue }
            var value = parts.count > 1 ? parts[1] : ""
            if value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
                value = String(value.dropFirst().dropLast())
            }
            guard directives.updateValue(value, forKey: name) == nil else { return nil }
        }
        guard let age = directives["max-age"], !age.isEmpty, age.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // A policy is stored for at most a hundred years.
        return (min(TimeInterval(age) ?? .infinity, 3.2e9), directives["includesubdomains"] != nil)
    }
}

extension String {
    fileprivate var isAddress: Bool {
        contains(":") || utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
    }
}
