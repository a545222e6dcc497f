#if canImport(Darwin)
    import Foundation

    extension StorageFolder {
        /// Sets the class of protection, which new files inherit, and excludes the folder from backups.
        static func protect(_ folder: URL) throws {
            #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
                try FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder.path)
            #endif
            var (url, values) = (folder, URLResourceValues())
            values.isExcludedFromBackup = true
            try url.setResourceValues(values)
        }
    }
#endif
