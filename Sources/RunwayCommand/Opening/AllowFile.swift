import Foundation
import RunwayBridge
import RunwayJSON

/// Reads the file of `runway page --allow`: origins, their commands, and what these return.
enum AllowFile {
    /// - Throws: ``CommandFailure`` that names the first mistake.
    static func capabilities(of path: String) throws(CommandFailure) -> [Capability] {
        let file = URL(filePath: path)
        let root: JSONValue
        do { root = try JSONDocument(Data(contentsOf: file)).root } catch let error as JSONError {
            throw CommandFailure("\(path) is not JSON: \(error).")
        } catch {
            throw CommandFailure("\(path) can't be read: \(error.localizedDescription)")
        }
        guard root.kind == .object else { throw CommandFailure("\(path) is not an object of origins.") }
        var capabilities: [Capability] = []
        var names: Set<String> = []
        for member in root.members {
            guard let origin = RunwayBridge.Origin(serialized: member.key), names.insert(member.key).inserted else {
                throw CommandFailure(
                    "\"\(member.key)\" in \(path) is no origin, or repeated: https:// and a host, http:// for this machine, runway-bundle:// and a name."
                )
            }
            guard member.value.kind == .object else { throw CommandFailure("\(member.key) in \(path) is no object.") }
            let commands = try member.value.members.map { member throws(CommandFailure) in
                try command(member.key, member.value, beside: file)
            }
            guard Set(commands.map(\.name)).count == commands.count else {
                throw CommandFailure("\(member.key) in \(path) has two commands of one name.")
            }
            capabilities.append(Capability(origin, commands: commands))
        }
        return capabilities
    }

    private static func command(
        _ name: String, _ value: JSONValue, beside file: URL
    ) throws(CommandFailure) -> Command {
        let known = ["output", "parts", "error", "unsafe", "seconds", "file"]
        guard (1...128).contains(name.utf16.count) else { throw CommandFailure("The name \"\(name)\" is too long.") }
        guard value.kind == .object else { throw CommandFailure("The command \(name) is no object.") }
        if let unknown = value.members.map(\.key).first(where: { !known.contains($0) }) {
            throw CommandFailure("The command \(name) has an unknown member \"\(unknown)\".")
        }
        let seconds = value["seconds"].exists ? value["seconds"].double ?? -1 : 0
        guard (0...3600).contains(seconds) else { throw CommandFailure("\"seconds\" of \(name) is not 0 to 3600.") }
        let parts = value["parts"].elements.map { Array($0.rawBytes) }
        let output = value["output"].exists ? Array(value["output"].rawBytes) : Array("null".utf8)
        let error: BridgeError? =
            if value["error"].exists {
                BridgeError(
                    BridgeError.Kind(value["error"]["kind"].string ?? "failed"), value["error"]["message"].string ?? "")
            } else { nil }
        let bytes = try value["file"].string.map { path throws(CommandFailure) in
            do { return try Data(contentsOf: URL(filePath: path, relativeTo: file)) } catch {
                throw CommandFailure("The file of \(name) can't be read: \(error.localizedDescription)")
            }
        }
        let pause = Duration.seconds(seconds) / (parts.count + 1)
        return Command(
            name, isUnsafe: value["unsafe"].bool ?? false, usesDevice: false, deadline: .seconds(seconds + 30)
        ) { _, call in
            for part in parts {
                try await Task.sleep(for: pause)
                try await call.sendPart(part)
            }
            try await Task.sleep(for: pause)
            if let error { throw error }
            return bytes.map { .bytes($0) } ?? .json(output)
        }
    }
}
