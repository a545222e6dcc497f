import Synchronization

/// The values of the bundle that runs. They stay the same until the app launches again.
///
/// ```swift
/// let native = Guard("native orders") { values[Remote.nativeOrders] }
/// ```
///
/// A value can switch off a native page: while a `Guard` of `RunwayMediator` is shut, and names no other page, the web
/// page at the same path is shown.
public final class RemoteValues: Sendable {
    private let file: ValueFile
    private let bundle: BundleID
    private let device: String
    private let report: @Sendable (BundleRecord) -> Void
    /// Guards the names whose problem was reported, and the values of a debug build.
    private let state = Mutex<State>(State())

    private struct State {
        var reported: Set<String> = []
        var overrides: [String: any Sendable] = [:]
    }

    /// - Parameters:
    ///   - bytes: The bytes of `values.json`; `nil` if the bundle does not have the file.
    ///   - bundle: The bundle that runs.
    ///   - device: The identifier by which roll-outs choose devices.
    ///   - report: Receives a record of the kind ``BundleRecord/Kind/invalidValue`` for an invalid file, and for the
    ///     first read of each invalid value.
    package init(
        reading bytes: [UInt8]?, of bundle: BundleID, for device: String,
        report: @escaping @Sendable (BundleRecord) -> Void
    ) {
        (self.bundle, self.device, self.report) = (bundle, device, report)
        do throws(ValueFile.Problem) {
            file = try bytes.map { bytes throws(ValueFile.Problem) in try ValueFile(reading: bytes) } ?? ValueFile()
        } catch {
            file = ValueFile()
            report(BundleRecord(.invalidValue, bundle, error.text))
        }
    }

    /// Returns the bundle's value, or the default of the binary if the bundle has none for this device or an invalid
    /// one.
    public subscript<Value>(value: RemoteValue<Value>) -> Value {
        if let override = state.withLock({ $0.overrides[value.name] }) as? Value { return override }
        do throws(ValueFile.Problem) {
            return try file.value(Value.self, named: value.name, for: device) ?? value.defaultValue
        } catch {
            if state.withLock({ $0.reported.insert(value.name).inserted }) {
                report(BundleRecord(.invalidValue, bundle, error.text))
            }
            return value.defaultValue
        }
    }

    #if DEBUG
        /// Sets a value for this run, or removes it again. Only builds for debugging have this function.
        ///
        /// - Parameters:
        ///   - value: The value to set.
        ///   - override: The value that is used whatever the bundle has; `nil` removes it.
        public func override<Value>(_ value: RemoteValue<Value>, with override: Value?) {
            state.withLock { $0.overrides[value.name] = override }
        }
    #endif
}

extension BundleStore {
    /// Returns the values of a bundle. Read them once after each launch, and pass them to guards and screens.
    ///
    /// - Parameter bundle: The running bundle.
    public func values(of bundle: RunningBundle) -> RemoteValues {
        // A damaged file has its record already.
        let data = (try? bundle.read(ValueFile.path)) ?? nil
        return RemoteValues(
            reading: data.map(Array.init), of: bundle.id, for: shared.withLock { $0.state.device }
        ) { [weak self] in self?.report([$0]) }
    }
}
