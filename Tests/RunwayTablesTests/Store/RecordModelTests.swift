import Foundation
import RunwayTesting
import Testing

@testable import RunwayTables

/// Random operations on a store and on a dictionary, with restarts, failures and a second connection.
struct RecordModelTests {
    private enum Operation: CustomStringConvertible {
        case save(Int, String), update(Int, String?), delete(Int), deleteAll(String), updateAll(String, String)
        case failing(Int), restart, other(Int, String)

        var description: String {
            switch self {
            case .save(let key, let text): "save \(key) \(text)"
            case .update(let key, let text): "update \(key) \(text ?? "without text")"
            case .delete(let key): "delete \(key)"
            case .deleteAll(let text): "deleteAll \(text)"
            case .updateAll(let old, let new): "updateAll \(old) \(new)"
            case .failing(let key): "failing \(key)"
            case .restart: "restart"
            case .other(let key, let text): "other \(key) \(text)"
            }
        }

        static func random(using generator: inout SeededGenerator) -> Operation {
            let (key, texts) = (Int.random(in: 0..<12, using: &generator), ["a", "b", "'", "c; --"])
            let text = texts.randomElement(using: &generator) ?? ""
            let other = texts.randomElement(using: &generator) ?? ""
            return switch Int.random(in: 0..<12, using: &generator) {
            case 0...3: .save(key, text)
            case 4, 5: .update(key, Bool.random(using: &generator) ? text : nil)
            case 6: .delete(key)
            case 7: .deleteAll(text)
            case 8: .updateAll(text, other)
            case 9: .failing(key)
            case 10: .other(key, text)
            default: .restart
            }
        }
    }

    @Test(arguments: 0..<3)
    func aStoreEqualsADictionary(_ run: Int) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var operations = (0..<150).map { _ in Operation.random(using: &generator) }
        guard var difference = try await self.difference(operations) else { return }
        // Shrinks: leaves out what is not needed to differ.
        var index = 0
        while index < operations.count {
            var fewer = operations
            fewer.remove(at: index)
            if let smaller = try await self.difference(fewer) {
                (operations, difference) = (fewer, smaller)
            } else {
                index += 1
            }
        }
        Issue.record("seed \(seed): \(operations) leads to \(difference)")
    }

    private func row(_ key: Int, _ text: String?) -> Values<Lists> {
        var row = Values<Lists>()
        row[Lists.id] = key
        row[Lists.name_] = text
        return row
    }

    /// How the store differs from the dictionary after the operations; `nil` if it does not.
    private func difference(_ operations: [Operation]) async throws -> String? {
        let folder = ScratchFolder()
        var (store, model) = (try await folder.open(), [Int: String]())
        for operation in operations {
            switch operation {
            case .save(let key, let text):
                let row = row(key, text)
                try await store.write { _ = try $0.save(row) }
                model[key] = text
            case .update(let key, let text):
                let row = row(key, text)
                let isFound = try await store.write { try $0.update(row) }
                if isFound != (model[key] != nil) { return "\(operation): \(isFound)" }
                if isFound, let text { model[key] = text }
            case .delete(let key):
                try await store.write { _ = try $0.delete(Lists.self, where: Lists.id == key) }
                model[key] = nil
            case .deleteAll(let text):
                let count = try await store.write { try $0.delete(Lists.self, where: Lists.name_ == text) }
                if count != model.values.count(where: { $0 == text }) { return "\(operation): \(count)" }
                model = model.filter { $0.value != text }
            case .updateAll(let old, let new):
                var change = Values<Lists>()
                change[Lists.name_] = new
                let values = change
                try await store.write { _ = try $0.updateAll(values, where: Lists.name_ == old) }
                model = model.mapValues { $0 == old ? new : $0 }
            case .failing(let key):
                let row = row(key, "refused")
                try? await store.write { file in
                    try file.delete(Lists.self, where: nil)
                    try file.save(row)
                }
            case .restart:
                try await store.close()
                store = try await folder.open()
            case .other(let key, let text):
                let (other, row) = (try await folder.open(), row(key, text))
                try await other.write { _ = try $0.save(row) }
                try await other.close()
                model[key] = text
            }
            let found = try await store.read { file in
                try file.fetch(Lists.self).map { ($0[Lists.id] ?? -1, $0[Lists.name_] ?? "") }
            }
            if Dictionary(uniqueKeysWithValues: found) != model { return "\(operation): \(found)" }
        }
        return nil
    }
}
