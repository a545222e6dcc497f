/// The decision about a navigation of a web view's main frame, which the web view has to follow.
public enum Navigation: Hashable, Sendable {
    /// The web view cancels the navigation, since a native page opens instead: at once, or when the user has fulfilled
    /// the condition of a ``Guard``.
    case native
    /// The web view loads the address.
    case web
    /// The address belongs to another site or to the telephone: the web view cancels the navigation, and passes the
    /// address to the system if the user tapped it.
    case system
    /// The web view cancels the navigation.
    case refused(MediatorError)
}

extension Mediator {
    /// Decides about a navigation of a web view, and opens the address if it is a page of this build.
    ///
    /// With it, pages of the web site can become native one by one, and the site does not change. While a ``Guard`` has
    /// switched a native page off, the web view loads the address of that page.
    ///
    /// | address | result |
    /// |---|---|
    /// | a page that web pages may open | ``Navigation/native`` |
    /// | any other address of the web site | ``Navigation/web`` |
    /// | `http` and `https` of other hosts, `tel`, `mailto`, `sms` | ``Navigation/system`` |
    /// | all others, such as `javascript`, `data`, `file` and schemes of other apps | ``Navigation/refused(_:)`` |
    ///
    /// - Parameters:
    ///   - address: The absolute URL, as the web view has parsed it.
    ///   - shell: The shell that shows the web view, by default ``shell``.
    public func navigate(to address: String, in shell: (any Shell)? = nil) -> Navigation {
        navigate(to: address, for: .pages, in: shell)
    }

    /// Decides about a navigation that another than the shown page may have begun, such as a frame in it.
    package func navigate(to address: String, for caller: Reach, in shell: (any Shell)?) -> Navigation {
        switch addresses.destination(of: address, for: caller) {
        case .page(let page):
            guard
                case .refused(let error) = begin(
                    PageRequest(page: page, presentation: nil, shell: shell, opensSite: false))
            else { return .native }
            let navigation = addresses.navigation(to: address, refusedFor: error)
            if navigation == .web, let module = module(of: page) { prefetch(page, of: module) }
            return navigation
        case .site(_, let error), .nothing(let error): return addresses.navigation(to: address, refusedFor: error)
        }
    }
}

extension AddressBook {
    private static let systemSchemes: Set<String> = ["http", "https", "tel", "mailto", "sms"]

    /// Returns what a web view does with an address that is no page.
    ///
    /// Only scheme and authority count: a site may have addresses that no page can have.
    fileprivate func navigation(to address: String, refusedFor error: MediatorError) -> Navigation {
        let bytes = Array(address.utf8)
        // What the web view has parsed has none of these; a parser that differs could read another host.
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
        else { return .refused(error) }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let rest = bytes[(colon + 1)...]
        if scheme == "https", let host = origins.host, rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
            if String(decoding: authority, as: UTF8.self).lowercased() == host { return .web }
        }
        return Self.systemSchemes.contains(scheme) ? .system : .refused(error)
    }
}
