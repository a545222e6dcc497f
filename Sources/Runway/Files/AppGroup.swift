/// The containers that apps of one team share on iOS and its siblings.
///
/// No file there is locked: the system ends an app that is suspended while it holds a lock on one (the exception code
/// 0xdead10cc). What locks exclude elsewhere is then excluded within one process at most.
package enum AppGroup {
    /// Whether a path is in such a container. Those of macOS, which suspends no app, do not count.
    package static func contains(_ path: String) -> Bool { path.contains("/Containers/Shared/AppGroup/") }
}
