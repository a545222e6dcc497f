import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

/// Random operations on a file and on a dictionary: with restarts, failures, a second connection, programs of three
/// versions that take the file up and down, and processes that are killed in a transaction.
struct RecordModelTests {
    @Test(arguments: 0..<3)
    func aStoreEqualsADictionary(_ run: Int) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let operations = (0..<200).map { _ in Operation.random(using: &generator) }
        guard try await difference(operations) != nil else { return }
        let short = try await shrunk(operations) { try await difference($0) != nil }
        Issue.record("seed \(seed): \(short) leads to \(try await difference(short) ?? "nothing, the second time")")
    }

    @Test func shrinkingFindsWhatFails() async throws {
        let short = try await shrunk(Array(0..<100)) { $0.contains(17) && $0.contains(83) }
        #expect(short == [17, 83])
    }

    /// Leaves out elements, many at first, as long as what remains fails.
    private func shrunk<Element>(
        _ elements: [Element], while fails: ([Element]) async throws -> Bool
    ) async throws -> [Element] {
        var (elements, size) = (elements, elements.count / 2)
        while size > 0 {
            var start = 0
            while start < elements.count {
                var fewer = elements
                fewer.removeSubrange(start..<min(start + size, elements.count))
                if try await fails(fewer) { elements = fewer } else { start += size }
            }
            size /= 2
        }
        return elements
    }

    /// How the file differs from the dictionary after the operations; `nil` if it does not.
    private func difference(_ operations: [Operation]) async throws -> String? {
        let folder = ScratchFolder()
        var model = ModelFile()
        var store = try await model.version.open(folder.file)
        for operation in operations {
            switch operation {
            case .change(let change):
                let found = try await model.version.perform(change, on: store)
                if found != model.perform(change) { return "\(operation): \(found)" }
            case .otherConnection(let change):
                let other = try await model.version.open(folder.file)
                let found = try await model.version.perform(change, on: other)
                if found != model.perform(change) { return "\(operation): \(found)" }
                try await other.close()
            case .restart(let version):
                try await store.close()
                model.migrate(to: version)
                store = try await version.open(folder.file)
            case .process(let version, let changes):
                let own = model.version
                // A program of the same version uses the file at the same time.
                if version != own { try await store.close() }
                #if os(Linux) || os(macOS)
                    let json = String(decoding: try JSONEncoder().encode(changes), as: UTF8.self)
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [
                            path = folder.file.path as String, version = version.rawValue as Int,
                            json = json as String
                        ] in
                        try await RecordModelTests.changeAndBeKilled(path, version, json)
                    }
                    model.migrate(to: version)
                    for change in changes { _ = model.perform(change) }
                    model.migrate(to: own)
                #endif
                if version != own { store = try await own.open(folder.file) }
            }
            let found = try await model.version.rows(of: store)
            if found != model.rows { return "\(operation): \(found), not \(model.rows)" }
        }
        return nil
    }

    /// Changes a file, and is killed in a transaction.
    private static func changeAndBeKilled(_ path: String, _ number: Int, _ json: String) async throws {
        let version = try #require(ModelVersion(rawValue: number))
        let store = try await version.open(URL(filePath: path))
        for change in try JSONDecoder().decode([ModelChange].self, from: Data(json.utf8)) {
            _ = try await version.perform(change, on: store)
        }
        try await store.write { file in
            try file.connection.execute(sql: "DELETE FROM item")
            kill(getpid(), SIGKILL)
        }
    }

    private enum Operation: CustomStringConvertible {
        case change(ModelChange), otherConnection(ModelChange)
        case restart(ModelVersion), process(ModelVersion, [ModelChange])

        var description: String { caseDescription(of: self) }

        static func random(using generator: inout SeededGenerator) -> Operation {
            let version = ModelVersion.allCases.randomElement(using: &generator) ?? .first
            let change = ModelChange.random(using: &generator)
            return switch Int.random(in: 0..<60, using: &generator) {
            case 0..<48: .change(change)
            case 48..<52: .otherConnection(change)
            case 52..<58: .restart(version)
            default: .process(version, (0..<4).map { _ in ModelChange.random(using: &generator) })
            }
        }
    }
}
