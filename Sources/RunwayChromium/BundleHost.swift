import RunwayBridge

/// The names under which Chromium has the pages of bundles. A scheme that it does not know has no origin there, so that
/// a bundle is a host that can't exist (RFC 6761 §6.4), whose requests never leave the browser.
enum BundleHost {
    static let suffix = ".runway-bundle.invalid"
    private static let scheme = "\(Origin.bundleScheme)://"

    /// Returns the address that the browser has for an address of a bundle, and other addresses as they are.
    static func browserAddress(of address: String) -> String {
        guard address.hasPrefix(scheme) else { return address }
        let rest = address.dropFirst(scheme.count)
        let host = rest.prefix { !"/?#".contains($0) }
        return "https://\(host)\(suffix)\(rest.dropFirst(host.count))"
    }

    /// Returns the address or the origin of a bundle that the browser has under another name, and others as they are.
    static func address(of address: String) -> String {
        guard address.hasPrefix("https://") else { return address }
        let rest = address.dropFirst("https://".count)
        let host = rest.prefix { !"/?#".contains($0) }
        guard host.hasSuffix(suffix) else { return address }
        return "\(scheme)\(host.dropLast(suffix.count))\(rest.dropFirst(host.count))"
    }
}
