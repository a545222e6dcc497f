import Foundation
import RunwayJSON
public import Synchronization

/// The place in a point where a runtime puts a script's function and a recorder of calls.
@usableFromInline
final class PatchSlot: Sendable {
    let name: String
    let version: Int
    /// Whether the first argument is the name of an endpoint's type.
    let isReformer: Bool
    let native: NativeFunction
    @usableFromInline let isAttached = Atomic(false)
    /// Guards what a runtime has put here. `isAttached` is true only if there is any of it.
    private let attached = Mutex<(patch: Patch?, recorder: CallRecorder?)>((nil, nil))

    init(name: String, version: Int, isReformer: Bool = false, native: NativeFunction) {
        self.name = name
        self.version = version
        self.isReformer = isReformer
        self.native = native
    }

    /// Whether calls go to the native function directly: no script patches the point, and its calls are not recorded.
    @inlinable var isDirect: Bool { !isAttached.load(ordering: .acquiring) }

    var patch: Patch? {
        get { attached.withLock { $0.patch } }
        set { change { $0.patch = newValue } }
    }

    var recorder: CallRecorder? {
        get { attached.withLock { $0.recorder } }
        set { change { $0.recorder = newValue } }
    }

    private func change(_ body: (inout (patch: Patch?, recorder: CallRecorder?)) -> Void) {
        attached.withLock { attached in
            body(&attached)
            isAttached.store(attached.patch != nil || attached.recorder != nil, ordering: .releasing)
        }
    }

    /// Whether the task computes the native result for a rehearsal, in which scripts take no part.
    @TaskLocal static var isNative = false

    /// Calls the script, if there is one and it succeeds, or the native function, whose calls are recorded.
    func call<Output: Codable, Failure>(
        _ arguments: () throws -> [[UInt8]], native: () throws(Failure) -> Output
    ) throws(Failure) -> Output {
        if Self.isNative { return try native() }
        let (patch, recorder) = attached.withLock { $0 }
        if let output = patch?.output(Output.self, of: arguments) { return output }
        guard let recorder else { return try native() }
        do throws(Failure) {
            let output = try native()
            recorder.record(self, arguments) { .returned(Array(try JSONEncoder().encode(output))) }
            return output
        } catch {
            recorder.record(self, arguments) { .threw("\(type(of: error))") }
            throw error
        }
    }
}

/// A function of a script, with what its caller reports about the result.
struct Patch: Sendable {
    /// The runtime that has put it into a slot.
    var owner: ObjectIdentifier?
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
