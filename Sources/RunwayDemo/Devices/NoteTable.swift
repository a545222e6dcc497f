#if Command
    import Foundation
    import Runway
    import RunwaySync
    import RunwayTables

    /// The notes of a user, which are the same on all of the user's devices.
    enum NoteTable: SyncedTable {
        static let name = "note"
        static let id = Column<UUID>("id"), list = Column<UUID>("list"), rank = Column<String>("rank", default: "")
        static let title = Column<String>("title", default: ""), remark = Column<String?>("remark")
        static let due = Column<Date?>("due"), isDone = Column<Bool>("isDone", default: false)
        static let photo = Column<StoredFile?>("photo")
        static let columns = TableColumns<Self>(id, list, rank, title, remark, due, isDone, photo)
        static let sync = Synced(space: list, conflicts: .ask)
    }

    /// The service of a ``DevicesTour``. The signed-in account is the user.
    enum NoteService: APIService {
        static let name = "notes"
        static let environments: [ServiceEnvironment: String] = [:]
        static let credentials: (any Credentials)? = NoteCredentials()
    }

    private struct NoteCredentials: Credentials {
        func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
    }
#endif
