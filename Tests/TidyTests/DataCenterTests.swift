import Testing

/// Above the data centers of the samples and of the demo nothing knows a table: tables, records' columns and centers are in
/// the folder Saving of each, and those that devices share in the folder Devices of the demo.
struct DataCenterTests {
    /// Returns the names of tables and of their modules that a file contains.
    private static func tablesNamed(in text: String, of tables: Set<String>) -> [String] {
        let forbidden = tables.union([
            "RunwayTables", "GRDB", "RecordStore", "TableDefinition", "Values", "Draft", "TableWriter", "TableReader",
        ])
        return text.matches(of: /[A-Za-z_]\w*/).map { String($0.output) }.filter(forbidden.contains)
    }

    /// Returns the functions, properties and subscripts that pass on rows.
    private static func membersReturningRows(in text: String) -> [String] {
        let functions = text.matches(of: /func (\w+)[^{]*\) (?:async )?(?:throws )?->[^{]*\b(?:Values|Draft)\b[^{]*\{/)
        let properties = text.matches(of: /(?:var|let) (\w+): [^{=\n]*\b(?:Values|Draft)\b[^{=\n]*[{=\n]/)
        let subscripts = text.matches(of: /(subscript)[^{]*->[^{]*\b(?:Values|Draft)\b[^{]*\{/)
        return (functions + properties + subscripts).map { String($0.output.1) }
    }

    @Test(arguments: ["Samples", "Sources/RunwayDemo"]) func businessCodeNamesNoTable(folder: String) throws {
        let files = try Project.files(in: folder, endingIn: [".swift"])
        let saving = files.filter { file in
            ["/Saving/", "/Devices/"].contains { file.path.contains($0) } && !file.path.hasSuffix("Tour.swift")
        }
        let tables = Set(
            saving.flatMap { $0.text.matches(of: /enum (\w+): TableDefinition/) }.map { String($0.output.1) })
        #expect(tables.count >= 3)
        for file in files where !saving.contains(where: { $0.path == file.path }) {
            #expect(Self.tablesNamed(in: file.text, of: tables).isEmpty, "\(file.path)")
        }
    }

    @Test(arguments: ["Samples", "Sources/RunwayDemo"]) func dataCentersReturnNoRows(folder: String) throws {
        let centers = try Project.files(in: folder, endingIn: [".swift"]).filter { $0.text.contains(": DataCenter") }
        #expect(centers.flatMap { $0.text.matches(of: /class \w+: DataCenter/) }.count >= 2)
        for file in centers { #expect(Self.membersReturningRows(in: file.text).isEmpty, "\(file.path)") }
    }

    @Test func tablesAndRowsAreFound() {
        let view = "import RunwayTables\nlet title = draft[FavouriteTable.title]"
        #expect(Self.tablesNamed(in: view, of: ["FavouriteTable"]) == ["RunwayTables", "FavouriteTable"])
        #expect(Self.tablesNamed(in: "struct MessageDraft { var values: [Int] }", of: ["FavouriteTable"]).isEmpty)
        let center = "func rows(of id: Int) async throws -> [Values<FavouriteTable>] {\nfunc draft() -> MessageDraft {"
        #expect(Self.membersReturningRows(in: center) == ["rows"])
        let members =
            "var all: [Values<FavouriteTable>] { get async }\nsubscript(id: Int) -> Draft? { nil }\nlet count: Int"
        #expect(Self.membersReturningRows(in: members) == ["all", "subscript"])
    }
}
