import Foundation
import GRDB
import Testing

@testable import RunwayTables

#if os(Linux) || os(macOS)
    /// Processes that are killed at each boundary of a change of files.
    struct FileKillTests {
        enum Boundary: String, CaseIterable, Codable {
            case inAPart, afterTheFile, inTheTransaction, afterTheCommit
            case beforeTheMove, inTheDelete, beforeTheRemoval, inTheRemoval
        }

        private let folder = ScratchFolder()

        @Test(arguments: Boundary.allCases)
        func aKillLosesAndLeavesNoFile(_ boundary: Boundary) async throws {
            let store = try await folder.open([Films.self])
            let first = try await store.saveFilm(1, "first")
            let source = folder.url.appending(path: "source")
            try Data("second".utf8).write(to: source)
            try await store.close()
            let (path, sourcePath, name) = (folder.file.path, source.path, boundary.rawValue)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, sourcePath = sourcePath as String, name = name as String] in
                let boundary = try #require(Boundary(rawValue: name))
                try await Self.run(to: boundary, URL(fileURLWithPath: path), URL(fileURLWithPath: sourcePath))
            }
            let again = try await folder.open([Films.self])
            let posters = try await again.posters()
            #expect(try folder.fileNames == posters.map(\.name).sorted())
            var texts: [String] = []
            for poster in posters { texts.append(try await again.text(of: poster)) }
            let expected: [String] =
                switch boundary {
                case .inAPart, .afterTheFile, .inTheTransaction, .inTheDelete: ["first"]
                case .afterTheCommit, .beforeTheMove: ["first", "second"]
                case .beforeTheRemoval, .inTheRemoval: []
                }
            #expect(texts == expected && (expected.isEmpty || posters[0] == first))
            // The source of a move is there, or in the store.
            #expect(FileManager.default.fileExists(atPath: source.path))
        }

        private static func run(to boundary: Boundary, _ file: URL, _ source: URL) async throws {
            @Sendable func end(_ place: Boundary) { if place == boundary { kill(getpid(), SIGKILL) } }
            let store = try await RecordStore.open(at: file, tables: [Films.self])
            if [.inTheDelete, .beforeTheRemoval, .inTheRemoval].contains(boundary) {
                try await store.write { file in
                    // A file was removed, and its name is going to be.
                    file.connection.add(
                        function: DatabaseFunction("stop", argumentCount: 0) { _ in
                            end(.inTheRemoval)
                            return nil
                        })
                    try file.connection.execute(
                        sql: "CREATE TEMP TRIGGER t BEFORE DELETE ON runway_file BEGIN SELECT stop(); END")
                    file.connection.afterNextTransaction { _ in end(.beforeTheRemoval) }
                    try file.delete(Films.self, where: nil)
                    end(.inTheDelete)
                }
            }
            if boundary == .beforeTheMove {
                try await store.withFile(moving: source) { poster in
                    try await store.write { _ = try $0.save(film(2, poster)) }
                    end(.beforeTheMove)
                }
            }
            let parts = AsyncStream<[UInt8]> { stream in
                stream.yield(Array("sec".utf8))
                stream.yield(Array("ond".utf8))
                stream.finish()
            }.map { part in
                if part.first == UInt8(ascii: "o") { end(.inAPart) }
                return part
            }
            try await store.withFile(from: parts) { poster in
                end(.afterTheFile)
                try await store.write { file in
                    try file.save(film(2, poster))
                    end(.inTheTransaction)
                }
                end(.afterTheCommit)
            }
        }
    }
#endif
