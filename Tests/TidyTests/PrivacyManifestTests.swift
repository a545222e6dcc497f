import Foundation
import Testing

/// Apple's required-reason functions: a target of an app that uses one declares it in its privacy manifest, and declares nothing else.
struct PrivacyManifestTests {
    private static let prefix = "NSPrivacyAccessedAPICategory"
    /// The names of each category, as "Describing use of required reason API" on developer.apple.com lists them.
    private static let categories = [
        "FileTimestamp": [
            "stat", "fstat", "fstatat", "lstat", "getattrlist", "getattrlistbulk", "fgetattrlist", "getattrlistat",
            "attributesOfItem", "creationDate", "modificationDate", "creationDateKey", "contentModificationDateKey",
            "fileModificationDate", "contentModificationDate",
        ],
        "SystemBootTime": ["systemUptime", "mach_absolute_time"],
        "DiskSpace": [
            "statfs", "statvfs", "fstatfs", "fstatvfs", "systemFreeSize", "systemSize", "volumeAvailableCapacity",
            "volumeAvailableCapacityKey", "volumeTotalCapacity", "volumeTotalCapacityKey",
            "volumeAvailableCapacityForImportantUsage", "volumeAvailableCapacityForOpportunisticUsage",
        ],
        "ActiveKeyboards": ["activeInputModes"],
        "UserDefaults": ["UserDefaults", "NSUserDefaults"],
    ]
    /// What no app links: servers, command lines, tests.
    private static let leftOut = [
        "RunwayServer", "RunwayServerStorage", "RunwayBundleRepository", "RunwayCommand", "RunwayDemo", "RunwayTesting",
        "RunwayTestServer", "RunwayCrashTest",
    ]

    @Test func manifestsDeclareExactlyWhatIsUsed() throws {
        let files = try Project.files(in: "Sources", endingIn: [".swift", ".c"])
        var used: [String: Set<String>] = [:]
        for file in files {
            let target = String(file.path.split(separator: "/")[1])
            if Self.leftOut.contains(target) { continue }
            // Without comments, and by whole names.
            let code = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            let names = Set(code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
            for (category, members) in Self.categories where !names.isDisjoint(with: members) {
                used[target, default: []].insert(Self.prefix + category)
            }
        }
        #expect(used["Runway"] == [Self.prefix + "FileTimestamp"])
        let targets = Set(files.map { String($0.path.split(separator: "/")[1]) }).subtracting(Self.leftOut)
        for target in targets {
            #expect(try Self.declared(in: target) == used[target] ?? [], "\(target)")
        }
    }

    /// The categories that a target's manifest declares, each with a reason; empty if it has none.
    private static func declared(in target: String) throws -> Set<String> {
        let url = Project.root.appending(path: "Sources/\(target)/PrivacyInfo.xcprivacy")
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        let entries = try #require((list as? [String: Any])?["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        return try Set(
            entries.map { entry in
                let reasons = entry["NSPrivacyAccessedAPITypeReasons"] as? [String]
                #expect(reasons?.isEmpty == false, "\(target)")
                return try #require(entry["NSPrivacyAccessedAPIType"] as? String)
            })
    }
}
