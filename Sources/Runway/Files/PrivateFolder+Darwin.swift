#if canImport(Darwin)
    package import Foundation

    /// A folder of files that an app writes.
    package enum PrivateFolder {
        /// Sets the class of protection, which new files inherit, and excludes the folder from backups.
        ///
        /// Files that are created in the folder can be read as soon as the device was unlocked once: a call in the
        /// background reads them while the device is locked.
        ///
        /// - Parameter isBackedUp: Whether the folder is in backups after all. The default is `false`.
        /// - Throws: An error of Foundation.
        package static func protect(_ folder: URL, isBackedUp: Bool = false) throws {
            #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
                try FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder.path)
            #endif
            var (url, values) = (folder, URLResourceValues())
            values.isExcludedFromBackup = !isBackedUp
            try url.setResourceValues(values)
        }
    }
#endif
