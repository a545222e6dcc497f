import RunwayJSON
public import Synchronization

/// The place in a point where a runtime puts a script's function.
@usableFromInline
final class PatchSlot: Sendable {
    let name: String
    let version: Int
    @usableFromInline let hasPatch = Atomic(false)
    /// Guards the patch. `hasPatch` is true only if there is one.
    private let stored = Mutex<Patch?>(nil)

    init(name: String, version: Int) {
        self.name = name
        self.version = version
    }

    @inlinable var isPatched: Bool { hasPatch.load(ordering: .acquiring) }

    var patch: Patch? {
        get { stored.withLock { $0 } }
        set {
            stored.withLock { patch in
                patch = newValue
                hasPatch.store(newValue != nil, ordering: .releasing)
            }
        }
    }
}

/// A function of a script, with what its caller reports about the result.
struct Patch: Sendable {
    /// Calls the function with arguments as JSON. Returns `nil` if it failed, which is then recorded.
    let call: @Sendable (_ arguments: [[UInt8]]) -> [UInt8]?
    /// Records a result that the app can't use.
    let fail: @Sendable (_ error: any Error, _ isOfScript: Bool) -> Void

    /// Calls the function, and decodes its result.
    func output<Output: Decodable>(_ type: Output.Type, of arguments: () throws -> [[UInt8]]) -> Output? {
        let encoded: [[UInt8]]
        do { encoded = try arguments() } catch {
            fail(error, false)
            return nil
        }
        guard let bytes = call(encoded) else { return nil }
        do { return try JSONDocumentDecoder().decode(type, from: bytes) } catch {
            fail(error, true)
            return nil
        }
    }
}
