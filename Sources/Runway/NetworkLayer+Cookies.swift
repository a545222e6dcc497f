extension NetworkLayer {
    /// Returns the stored cookies of a service for the account that is currently signed in, oldest first.
    public func cookies(of service: any APIService.Type) -> [Cookie] {
        let date = clock.date
        return cookieJars.withJar(of: cookieOwner(service)) { $0.cookies(at: date) }
    }

    /// Restores cookies that were saved by an earlier process, for the account that is currently signed in.
    package func restore(_ cookies: [Cookie], of service: any APIService.Type) {
        let date = clock.date
        cookieJars.withJar(of: cookieOwner(service)) { jar in
            for cookie in cookies { jar.restore(cookie, at: date) }
        }
    }

    /// Removes the stored cookies of a service for the account that is currently signed in.
    public func removeCookies(of service: any APIService.Type) {
        cookieJars.withJar(of: cookieOwner(service)) { $0.removeAll() }
    }

    private func cookieOwner(_ service: any APIService.Type) -> CookieJars.Owner {
        CookieJars.Owner(service: service, account: settings(of: service).account)
    }
}
