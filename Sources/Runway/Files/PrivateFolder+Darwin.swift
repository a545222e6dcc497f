#if canImport(Darwin)
    package import Foundation

    package enum PrivateFolder {
        /// Sets the file protection class, which new files inherit, and excludes the folder from backups.
        ///
        /// Files in the folder are readable after the device was unlocked for the first time since its boot. A
        /// background call can therefore read them while the device is locked.
        ///
        /// - Parameter isBackedUp: Whether backups include the folder. The default is `false`.
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
