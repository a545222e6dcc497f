import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

/// Random operations on films with posters and stills, and on a dictionary of texts, with restarts, failures, a second
/// store and SQL of the app's own. After each, the folder has the files that rows name, and no other.
struct FileModelTests {
    private enum Operation: CustomStringConvertible {
        case poster(Int, String), share(Int, from: Int), swap(Int), delete(Int), deleteFrom(Int), replace(Int, Int)
        case failing(Int, String), unused(String), other(Int, String), restart

        var description: String {
            switch self {
            case .poster(let id, let text): "poster \(id) \(text)"
            case .share(let id, let other): "share \(id) from \(other)"
            case .swap(let id): "swap \(id)"
            case .delete(let id): "delete \(id)"
            case .deleteFrom(let id): "delete from \(id)"
            case .replace(let id, let other): "replace \(id) by \(other)"
            case .failing(let id, let text): "failing \(id) \(text)"
            case .unused(let text): "unused \(text)"
            case .other(let id, let text): "other \(id) \(text)"
            case .restart: "restart"
            }
        }

        static func random(using generator: inout SeededGenerator) -> Operation {
            let (id, other) = (Int.random(in: 0..<6, using: &generator), Int.random(in: 0..<6, using: &generator))
            let text = "\(Int.random(in: 0..<100, using: &generator))"
            return switch Int.random(in: 0..<14, using: &generator) {
            case 0...2: .poster(id, text)
            case 3, 4: .share(id, from: other)
            case 5: .swap(id)
            case 6: .delete(id)
            case 7: .deleteFrom(id)
            case 8: .replace(id, other)
            case 9: .failing(id, text)
            case 10: .unused(text)
            case 11, 12: .other(id, text)
            default: .restart
            }
        }
    }

    /// The texts of a film's files.
    private struct Texts: Equatable {
        var poster: String?
        var still: String?
    }

    @Test(arguments: 0..<3)
    func filesEqualADictionary(_ run: Int) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var operations = (0..<120).map { _ in Operation.random(using: &generator) }
        guard var difference = try await difference(operations) else { return }
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

    /// How the store differs from the dictionary after the operations; `nil` if it does not.
    private func difference(_ operations: [Operation]) async throws -> String? {
        let folder = ScratchFolder()
        func open() async throws -> RecordStore { try await folder.open([Films.self]) { $0.survivesPowerLoss = false } }
        var (store, second, model) = (try await open(), try await open(), [Int: Texts]())
        func sql(_ text: String, _ arguments: StatementArguments) async throws {
            try await store.write { try $0.connection.execute(sql: text, arguments: arguments) }
        }
        for operation in operations {
            switch operation {
            case .poster(let id, let text):
                try await store.savePoster(id, text)
                model[id, default: Texts()].poster = text
            case .other(let id, let text):
                try await second.savePoster(id, text)
                model[id, default: Texts()].poster = text
            case .share(let id, let other):
                try await sql(
                    "UPDATE film SET still = (SELECT poster FROM film WHERE id = ?) WHERE id = ?", [other, id])
                let still = model[other]?.poster
                model[id]?.still = still
            case .swap(let id):
                try await sql("UPDATE film SET poster = still, still = poster WHERE id = ?", [id])
                model[id] = model[id].map { Texts(poster: $0.still, still: $0.poster) }
            case .delete(let id):
                try await store.write { _ = try $0.delete(Films.self, where: Films.id == id) }
                model[id] = nil
            case .deleteFrom(let id):
                try await sql("DELETE FROM film WHERE id >= ?", [id])
                model = model.filter { $0.key < id }
            case .replace(let id, let other):
                try await sql("REPLACE INTO film SELECT ?, poster, still FROM film WHERE id = ?", [id, other])
                if let texts = model[other] { model[id] = texts }
            case .failing(let id, let text):
                try? await store.withFile(Data(text.utf8)) { poster in
                    try await store.write { file in
                        try file.delete(Films.self, where: nil)
                        try file.save(film(id, poster))
                        throw Refusal()
                    }
                }
            case .unused(let text):
                try await store.withFile(Data(text.utf8)) { _ in }
            case .restart:
                try await store.close()
                store = try await open()
            }
            if let difference = try await difference(of: store, in: folder, from: model) {
                return "\(operation): \(difference)"
            }
        }
        try await second.close()
        return nil
    }

    private func difference(
        of store: RecordStore, in folder: ScratchFolder, from model: [Int: Texts]
    ) async throws -> String? {
        var (found, names) = ([Int: Texts](), Set<String>())
        for row in try await store.read({ try $0.fetch(Films.self) }) {
            var texts = Texts()
            for (column, path) in [(Films.poster, \Texts.poster), (Films.still, \Texts.still)] {
                guard let file = row[column] else { continue }
                names.insert(file.name)
                texts[keyPath: path] = try await store.text(of: file)
            }
            found[try row.require(Films.id)] = texts
        }
        if found != model { return "\(found), not \(model)" }
        let onDisk = try folder.fileNames
        return onDisk == names.sorted() ? nil : "files \(onDisk), not \(names.sorted())"
    }
}

extension RecordStore {
    /// Saves a poster of a film, whose still stays.
    fileprivate func savePoster(_ id: Int, _ text: String) async throws {
        try await withFile(Data(text.utf8)) { poster in
            var values = Values<Films>()
            values[Films.id] = id
            values[Films.poster] = poster
            let row = values
            try await write { _ = try $0.save(row) }
        }
    }
}
