#if Command
    import Foundation
    import Runway
    import RunwaySync
    import RunwayTables
    import RunwayTransport

    /// One device of a user: a file of records, and an engine that synchronises it.
    struct NoteDevice: Sendable {
        static let user = "ada"
        /// The list of the user, which is the space of its notes.
        static let list = note(0)

        /// Returns the id of a note.
        static func note(_ number: UInt8) -> UUID {
            UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 1, number))
        }

        private let store: RecordStore
        private let engine: SyncEngine
        private let transport: NIOTransport

        /// Opens the file of a device, and joins the list.
        ///
        /// - Parameters:
        ///   - folder: The folder of the file.
        ///   - url: The base URL of the server.
        /// - Throws: The error of the file or of the transport.
        init(in folder: URL, calling url: String) async throws {
            transport = try NIOTransport()
            let network = NetworkLayer(name: "notes", transport: transport)
            network.configure(NoteService.self) { $0.baseURLs = [.release: url] }
            try await network.signIn(AccessToken(Self.user, account: Self.user), to: NoteService.self)
            store = try await RecordStore.open(
                at: folder.appending(path: "notes.sqlite"), tables: [NoteTable.self])
            engine = try await SyncEngine(store, over: network, service: NoteService.self, eventsPath: "events")
            try await engine.join(Self.list)
        }

        /// Ends the synchronisation, and closes the file.
        func close() async throws {
            await engine.close()
            try await store.close()
            await transport.shutdown(waitingAtMost: .zero)
        }

        /// The notes in the order of the user, one line each. A photo is shown once its file is here.
        var lines: [String] {
            get async throws {
                var lines: [String] = []
                for note in try await notes() {
                    var line = "\(note[NoteTable.isDone] == true ? "✓" : "·") \(note[NoteTable.title] ?? "")"
                    if let remark = note[NoteTable.remark] { line += " (\(remark))" }
                    if let photo = note[NoteTable.photo], let url = try? await store.url(of: photo) {
                        line += ", a photo of \(try Data(contentsOf: url).count) bytes"
                    }
                    lines.append(line)
                }
                return lines
            }
        }

        /// The state of the list, for the screen.
        var status: SyncStatus { get async throws { try await store.read { try $0.syncStatus(of: Self.list) } } }

        /// Exchanges all changes with the server.
        ///
        /// - Returns: Whether nothing waits.
        func exchange() async throws -> Bool {
            guard await engine.syncNow() == nil else { return false }
            return try await status.waitingCount == 0
        }

        /// Writes notes at the end of the list, in one change.
        func add(_ notes: [(title: String, due: Date)]) async throws {
            try await store.write { file in
                var rank: Rank?
                for (index, note) in notes.enumerated() {
                    var values = Values<NoteTable>()
                    (values[NoteTable.id], values[NoteTable.list]) = (Self.note(UInt8(index + 1)), Self.list)
                    (values[NoteTable.title], values[NoteTable.due]) = (note.title, note.due)
                    rank = Rank.between(rank, nil)
                    values[NoteTable.rank] = rank?.description
                    try file.insert(values)
                }
            }
        }

        func rename(_ number: UInt8, _ title: String) async throws {
            try await store.write { file in
                var values = Values<NoteTable>()
                (values[NoteTable.id], values[NoteTable.title]) = (Self.note(number), title)
                try file.update(values)
            }
        }

        /// Writes a remark with a photo, in one change.
        func remark(_ number: UInt8, _ text: String, with photo: Data) async throws {
            try await store.withFile(photo) { photo in
                try await store.write { file in
                    var values = Values<NoteTable>()
                    (values[NoteTable.id], values[NoteTable.remark]) = (Self.note(number), text)
                    values[NoteTable.photo] = photo
                    try file.update(values)
                }
            }
        }

        /// Whether the photos of all notes are here and at the server.
        var hasSentPhotos: Bool {
            get async throws {
                try await store.read { file in
                    try file.fetch(NoteTable.self).compactMap { $0[NoteTable.photo] }.allSatisfy {
                        try file.syncStatus(of: $0, in: Self.list) == .synced
                    }
                }
            }
        }

        func delete(_ number: UInt8) async throws {
            try await store.write { try $0.delete(NoteTable.self, where: NoteTable.id == Self.note(number)) }
        }

        /// Moves a note to the start or to the end of the list. Only the rank of this note changes.
        func move(_ number: UInt8, toStart: Bool) async throws {
            try await store.write { file in
                let end = try file.fetchFirst(
                    NoteTable.self, orderedBy: [toStart ? .ascending(NoteTable.rank) : .descending(NoteTable.rank)])
                let rank = end?[NoteTable.rank].flatMap { Rank($0) }
                var values = Values<NoteTable>()
                values[NoteTable.id] = Self.note(number)
                values[NoteTable.rank] = (toStart ? Rank.between(nil, rank) : .between(rank, nil)).description
                try file.update(values)
            }
        }

        /// Marks all notes that are due before a date as done. It is one change, however many notes there are.
        func finishAll(before date: Date) async throws {
            try await store.write { file in
                var values = Values<NoteTable>()
                values[NoteTable.isDone] = true
                try file.updateAll(values, where: NoteTable.list == Self.list && NoteTable.due < date)
            }
        }

        /// Asks the user about each title that was discarded, and writes the title that the user chooses.
        ///
        /// - Parameter choose: Returns the title that the note should have.
        /// - Returns: The questions.
        func resolveConflicts(
            _ choose: @Sendable @escaping (_ shown: String, _ discarded: String) -> String
        ) async throws -> [String] {
            try await store.write { file in
                var questions: [String] = []
                for conflict in try file.syncConflicts(of: NoteTable.self) {
                    let note = try file.fetchFirst(NoteTable.self, where: NoteTable.id == conflict.id)
                    if let shown = note?[NoteTable.title], let discarded = conflict[NoteTable.title] {
                        questions.append("\(shown), or \(discarded)?")
                        var values = Values<NoteTable>()
                        values[NoteTable.id] = conflict.id
                        values[NoteTable.title] = choose(shown, discarded)
                        try file.update(values)
                    }
                    try file.resolveConflict(of: NoteTable.self, conflict.id)
                }
                return questions
            }
        }

        private func notes() async throws -> [Values<NoteTable>] {
            try await store.read {
                try $0.fetch(NoteTable.self, orderedBy: [.ascending(NoteTable.rank), .ascending(NoteTable.id)])
            }
        }
    }

    extension Rank {
        fileprivate static func between(_ lower: Rank?, _ upper: Rank?) -> Rank {
            var random = SystemRandomNumberGenerator()
            return between(lower, upper, using: &random)
        }
    }
#endif
