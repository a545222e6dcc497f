import Foundation
import Runway
import RunwayTesting

/// A tier of files in a directory, one for each response, the simplest that outlives a process.
///
/// A test can make its operations fail, and delay them at a gate.
actor FileTier: CacheTier {
    struct Failed: Error {}

    /// The first line of a file; the body follows it.
    private struct Head: Codable {
        var service: String
        var endpoint: String?
        var account: String?
        var target: String?
        var key: [UInt8]
        var metadata: [UInt8]
    }

    let directory: URL
    private(set) var operations: [String] = []
    private var failing: Set<String> = []
    private var gates: [String: ScriptedGate] = [:]

    init(_ directory: URL) { self.directory = directory }

    /// Makes a tier in a new directory.
    static func temporary() throws -> FileTier {
        let directory = FileManager.default.temporaryDirectory.appending(path: "runway-tier-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return FileTier(directory)
    }

    /// Makes these operations fail from now on, and all others succeed.
    func fail(_ operations: String...) { failing = Set(operations) }

    /// Holds up every operation of a name until the gate opens.
    func hold(_ operation: String, at gate: ScriptedGate) { gates[operation] = gate }

    func removeDirectory() { try? FileManager.default.removeItem(at: directory) }

    var fileCount: Int { files.count }

    func find(_ key: CacheTierKey) async throws -> CacheTierEntry? {
        try await begin("find")
        guard let file = file(of: key), let (head, body) = try read(file) else { return nil }
        return CacheTierEntry(metadata: head.metadata, body: body)
    }

    func apply(_ changes: [CacheTierChange]) async throws {
        for change in changes {
            switch change {
            case .store(let entry, let key): try await store(entry, for: key)
            case .remove(let key):
                try await begin("remove")
                if let file = file(of: key) { try FileManager.default.removeItem(at: file) }
            case .removeTarget(let target):
                try await begin("removeTarget")
                try remove { $0.target == target }
            case .clear(let scope):
                try await begin("clear")
                try remove { head in
                    switch scope {
                    case .everything: true
                    case .service(let service): head.service == service
                    case .endpoint(let endpoint, let service):
                        head.service == service && (head.endpoint ?? endpoint) == endpoint
                    case .account(let account, let service):
                        head.account == account && (service ?? head.service) == head.service
                    }
                }
            }
        }
    }

    private func store(_ entry: CacheTierEntry, for key: CacheTierKey) async throws {
        try await begin("store")
        let head = Head(
            service: key.service, endpoint: key.endpoint, account: key.account, target: key.target,
            key: key.canonicalForm, metadata: entry.metadata)
        let file = file(of: key) ?? directory.appending(path: "\(UUID())")
        try (JSONEncoder().encode(head) + [UInt8(ascii: "\n")] + entry.body).write(to: file, options: .atomic)
    }

    private func remove(where shouldRemove: (Head) -> Bool) throws {
        for file in files {
            if let (head, _) = try read(file), shouldRemove(head) { try FileManager.default.removeItem(at: file) }
        }
    }

    private func begin(_ operation: String) async throws {
        operations.append(operation)
        try await gates[operation]?.pass()
        if failing.contains(operation) { throw Failed() }
    }

    private var files: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
    }

    private func file(of key: CacheTierKey) -> URL? {
        let form = key.canonicalForm
        return files.first { (try? read($0))?.head.key == form }
    }

    private func read(_ file: URL) throws -> (head: Head, body: [UInt8])? {
        let data = try Data(contentsOf: file)
        guard let end = data.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return (try JSONDecoder().decode(Head.self, from: data[..<end]), [UInt8](data[(end + 1)...]))
    }
}
