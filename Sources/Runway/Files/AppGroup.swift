/// The containers that apps of one team share on iOS, tvOS, watchOS and visionOS.
///
/// Files in them are not locked: the system terminates an app that is suspended while it holds a file lock there
/// (exception code 0xdead10cc). Without locks, exclusion works only within one process.
package enum AppGroup {
    /// Returns whether a path is in a container that several apps share. Containers of macOS do not count, because
    /// macOS suspends no app.
    package static func contains(_ path: String) -> Bool { path.contains("/Containers/Shared/AppGroup/") }
}
