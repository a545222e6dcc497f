import Foundation

/// The document `apple-app-site-association`, and the addresses that it opens in apps.
///
/// The keys and patterns are those of Apple's documentation, "Supporting associated domains" and
/// "applinks.Details.Components"; `paths` is their older form.
struct AssociationDocument: Sendable {
    /// The longest document that Apple's systems read.
    static let maximumByteCount = 128 << 10

    /// A group of apps, with the patterns that it opens. The first one that fits an address counts.
    struct Group: Sendable {
        let apps: [String]
        let patterns: [AddressPattern]
    }

    let groups: [Group]

    /// - Throws: ``CommandFailure`` with the reason for which a device would ignore the document.
    init(_ bytes: [UInt8]) throws(CommandFailure) {
        func refuse(_ reason: String) -> CommandFailure {
            CommandFailure("The document \(reason).", status: ExitStatus.refused)
        }
        guard bytes.count <= Self.maximumByteCount else {
            throw refuse("has \(bytes.count) bytes; Apple's systems read at most \(Self.maximumByteCount)")
        }
        let content: Content
        do { content = try JSONDecoder().decode(Content.self, from: Data(bytes)) } catch {
            throw refuse("is no JSON with the members of an association: applinks, details, appIDs, components")
        }
        var groups: [Group] = []
        for details in content.applinks.details {
            let apps = details.appIDs ?? details.appID.map { [$0] } ?? []
            guard !apps.isEmpty else { throw refuse("has details without appIDs") }
            let defaults = content.applinks.defaults
            let patterns =
                details.components?.map { AddressPattern($0, defaults: defaults) }
                ?? (details.paths ?? []).map { AddressPattern(path: $0) }
            if let variable = patterns.first(where: \.hasVariable) {
                throw refuse("has the pattern \(variable.text), whose variable this command can't read")
            }
            groups.append(Group(apps: apps, patterns: patterns))
        }
        guard !groups.isEmpty else { throw refuse("has no details: it opens no address in any app") }
        self.groups = groups
    }

    /// Returns the pattern by which an address opens an app, or `nil` if it opens in the browser.
    ///
    /// - Parameters:
    ///   - address: An absolute URL of the site.
    ///   - app: The app; `nil` for the first one that opens it.
    func pattern(of address: String, in app: String?) -> AddressPattern? {
        let parts = AddressParts(address)
        for group in groups where app.map(group.apps.contains) ?? true {
            guard let first = group.patterns.first(where: { $0.fits(parts) }), !first.excludes else { continue }
            return first
        }
        return nil
    }
}

extension AssociationDocument {
    fileprivate struct Content: Decodable {
        var applinks: AppLinks
    }
    fileprivate struct AppLinks: Decodable {
        var details: [Details]
        var defaults: AddressPattern.Defaults?
    }
    fileprivate struct Details: Decodable {
        var appIDs: [String]?
        var appID: String?
        var components: [AddressPattern.Component]?
        var paths: [String]?
    }
}
