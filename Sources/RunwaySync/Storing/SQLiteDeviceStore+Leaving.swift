import GRDB

extension SQLiteDeviceStore {
    /// Removes the rows of the space, and all that the file has of it.
    func removeSpace() throws {
        for shape in capture.allShapes {
            try change(
                "DELETE FROM \(shape.name.quotedName) WHERE \(shape.space.quotedName) = ?", [space.databaseValue])
        }
        for table in ["row", "staged", "preview", "parked", "outgoing", "refused", "conflict", "moved"] {
            try execute("DELETE FROM runway_sync_\(table) WHERE space = ?", [number])
        }
        try execute("DELETE FROM runway_sync_held WHERE space = ?", [space.databaseValue])
        try execute("DELETE FROM runway_sync_space WHERE number = ?", [number])
    }
}
