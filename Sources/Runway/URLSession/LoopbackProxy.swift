/// libcurl would send a request for this machine itself through a proxy, secrets included.
///
/// Foundation can't turn off the proxy that libcurl reads from the environment, so that such a call fails before it is
/// sent.
struct LoopbackProxy: Error {
    /// The variable that names the proxy.
    let variable: String

    /// Returns the variable by which libcurl uses a proxy for a host of this machine; `nil` if it uses none.
    ///
    /// Blocks of addresses in `no_proxy` do not count, since libcurl reads them from version 7.86 on.
    static func variable(for origin: Origin, in environment: [String: String]) -> String? {
        func name(of names: [String]) -> String? { names.first { environment[$0]?.isEmpty == false } }
        // HTTP_PROXY is not read: where a server starts programs, a request could set it.
        let names = origin.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        guard let variable = name(of: names + ["all_proxy", "ALL_PROXY"]) else { return nil }
        let excepted = name(of: ["no_proxy", "NO_PROXY"]).flatMap { environment[$0] } ?? ""
        if excepted == "*" { return nil }
        let isExcepted = excepted.split { $0 == "," || $0 == " " }.contains { entry in
            let name = (entry.hasPrefix(".") ? entry.dropFirst() : entry).lowercased()
            return origin.bareHost == name || origin.bareHost.hasSuffix(".\(name)")
        }
        return isExcepted ? nil : variable
    }
}
