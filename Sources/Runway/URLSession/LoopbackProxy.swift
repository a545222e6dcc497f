/// Thrown if libcurl would send a request for this machine through a proxy, including its secrets.
///
/// Foundation can't turn off the proxy that libcurl reads from the environment, so the call fails before it is sent.
struct LoopbackProxy: Error {
    /// The environment variable that names the proxy.
    let variable: String

    /// Returns the environment variable that makes libcurl use a proxy for a host of this machine, or `nil` if there is
    /// none.
    ///
    /// Address blocks in `no_proxy` are ignored, because libcurl supports them only from version 7.86 on.
    static func variable(for origin: Origin, in environment: [String: String]) -> String? {
        func name(of names: [String]) -> String? { names.first { environment[$0]?.isEmpty == false } }
        // HTTP_PROXY is not read: if a server starts programs for requests, a request could set it.
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
