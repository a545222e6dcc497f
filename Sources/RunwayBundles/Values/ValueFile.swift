import RunwayJSON
import RunwayTUF

/// The file `values.json` of a bundle.
///
/// ```json
/// {"format":1,"values":{"orders.native":{"value":false,"rollout":{"salt":"native orders","share":3000}}}}
/// ```
///
/// A value without a roll-out is for all devices. Names that no ``RemoteValue`` has, and other members, are ignored.
struct ValueFile: Sendable {
    /// The problem of a file or of one value, as a sentence.
    struct Problem: Error, Hashable {
        let text: String
    }

    /// The path in the bundle.
    static let path = "values.json"
    /// The maximum length of the file in bytes.
    static let maximumByteCount = 256 << 10
    /// The maximum number of JSON values in the file.
    static let maximumValueCount = 20_000

    private let entries: [String: JSONValue]

    /// A file without values.
    init() { entries = [:] }

    /// Reads a file.
    ///
    /// - Throws: ``Problem`` if it is no JSON of this format, too large, or has two values of one name.
    init(reading bytes: [UInt8]) throws(Problem) {
        let limits = JSONLimits(
            maximumByteCount: Self.maximumByteCount, maximumDepth: 32, maximumValueCount: Self.maximumValueCount)
        let root: JSONValue
        do throws(JSONError) { root = try JSONDocument(bytes, limits: limits).root } catch {
            throw Problem(text: "\(Self.path): \(error)")
        }
        guard root["format"].int64 == 1, root["values"].kind == .object else {
            throw Problem(text: "\(Self.path) is no file of format 1")
        }
        var entries: [String: JSONValue] = [:]
        for member in root["values"].members {
            guard entries.updateValue(member.value, forKey: member.key) == nil else {
                throw Problem(text: "\(Self.path) has \(member.key) twice")
            }
        }
        self.entries = entries
    }

    /// Returns the value of a name for a device; `nil` if there is none, or if the device is not in its roll-out.
    ///
    /// - Throws: ``Problem`` if it is of another type, or if its roll-out is invalid.
    func value<Value: Decodable>(
        _ type: Value.Type, named name: String, for device: String
    ) throws(Problem) -> Value? {
        guard let entry = entries[name] else { return nil }
        do {
            if entry["rollout"].kind != .missing, try !Rollout(entry["rollout"]).includes(device) { return nil }
            return try JSONDocumentDecoder().decode(type, from: entry["value"])
        } catch let error as MalformedMetadata {
            throw Problem(text: "\(name): \(error.reason)")
        } catch {
            throw Problem(text: "\(name) is no \(type)")
        }
    }
}

extension Rollout {
    /// Reads the members `share` and `salt`.
    fileprivate init(_ json: JSONValue) throws(MalformedMetadata) {
        guard let share = json["share"].int64, let salt = json["salt"].string else {
            throw MalformedMetadata("the roll-out has no \"share\" or no \"salt\"")
        }
        try self.init(share: share, salt: salt)
    }
}
