import Foundation
import RunwayStorage
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

struct Settings: Codable, Equatable {
    var theme = "dark", sizes = [1, 2], seen: Date? = nil, isLarge = true
}

/// A seal that leaves the bytes readable, and checks the context: for tests that need the same key in two processes.
struct FixedSealing: PayloadSealing {
    var key: UInt8 = 7

    func seal(_ bytes: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        [key] + context.map { $0 ^ key } + [0] + bytes.map { $0 ^ key }
    }

    func open(_ sealed: [UInt8], for context: [UInt8]) throws -> [UInt8] {
        let head = try seal([], for: context)
        guard sealed.starts(with: head) else { throw Refusal() }
        return sealed.dropFirst(head.count).map { $0 ^ key }
    }
}

/// A suite of preferences of its own, removed with the value.
final class ScratchPreferences: Sendable {
    let suite = "runway-tables-\(UUID().uuidString)"

    deinit {
        UserDefaults(suiteName: suite)?.removePersistentDomain(forName: suite)
        #if os(Linux)
            // The domain is gone, and its file is empty.
            let home = FileManager.default.homeDirectoryForCurrentUser
            try? FileManager.default.removeItem(at: home.appending(path: ".config/\(suite).plist"))
        #endif
    }
}

/// A store that kills the process before one of its operations, counted over all stores, or after it.
struct KillingMedium: StoredMedium {
    let base: any StoredMedium
    let countdown: Countdown

    var identity: String { base.identity }
    var maximumByteCount: Int { base.maximumByteCount }

    func load(_ name: String) async throws -> Data? {
        countdown.step()
        defer { countdown.step() }
        return try await base.load(name)
    }

    func save(_ bytes: Data, _ name: String) async throws {
        countdown.step()
        try await base.save(bytes, name)
        countdown.step()
    }

    func remove(_ name: String) async throws {
        countdown.step()
        try await base.remove(name)
        countdown.step()
    }
}

/// A store that refuses removals for a while.
struct RefusingMedium: StoredMedium {
    let base: any StoredMedium
    /// 1 while it refuses.
    let refusing: AwaitedValue<Int>

    var identity: String { base.identity }
    var maximumByteCount: Int { base.maximumByteCount }

    func load(_ name: String) async throws -> Data? { try await base.load(name) }
    func save(_ bytes: Data, _ name: String) async throws { try await base.save(bytes, name) }

    func remove(_ name: String) async throws {
        if refusing.value == 1 { throw Refusal() }
        try await base.remove(name)
    }
}

/// Kills this process at the last of its steps.
final class Countdown: Sendable {
    /// Guards how many steps are left.
    private let rest: Mutex<Int>

    init(_ count: Int) { rest = Mutex(count) }

    func step() {
        rest.withLock { rest in
            if rest == 0 { kill(getpid(), SIGKILL) }
            rest -= 1
        }
    }
}

extension StoredPlace {
    func refusingRemovals(while refusing: AwaitedValue<Int>) -> StoredPlace {
        StoredPlace(
            RefusingMedium(base: medium, refusing: refusing), named: formerName, encode: encode, decode: decode)
    }

    /// Kills this process at the last step of a countdown.
    func killing(at countdown: Countdown) -> StoredPlace {
        StoredPlace(
            KillingMedium(base: medium, countdown: countdown), named: formerName, encode: encode, decode: decode)
    }
}
