extension NetworkLayer {
    /// Returns the stored cookies of a service, for the account that is signed in to it now, the oldest first.
    public func cookies(of service: any APIService.Type) -> [Cookie] {
        let date = clock.date
        return cookieJars.withJar(of: cookieOwner(service)) { $0.cookies(at: date) }
    }

    /// Stores cookies that another process stored before, for the account that is signed in now.
    package func restore(_ cookies: [Cookie], of service: any APIService.Type) {
        let date = clock.date
        cookieJars.withJar(of: cookieOwner(service)) { jar in
            for cookie in cookies { jar.restore(cookie, at: date) }
        }
    }

    /// Removes the stored cookies of a service, for the account that is signed in to it now.
    public func removeCookies(of service: any APIService.Type) {
        cookieJars.withJar(of: cookieOwner(service)) { $0.removeAll() }
    }

    private func cookieOwner(_ service: any APIService.Type) -> CookieJars.Owner {
        CookieJars.Owner(service: service, account: settings(of: service).account)
    }
}
