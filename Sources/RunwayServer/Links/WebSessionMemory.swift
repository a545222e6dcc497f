import Synchronization

/// Stores the web sessions that ``WebSignIn`` begins below sessions of the app, in the memory of one server.
///
/// ```swift
/// signIn.addSignIn(to: site) { session, _ in webSessions.begin(below: session) }
/// signIn.addSignOut(from: api) { request, _ in
///     session(request)
/// } end: { session, _ in
///     webSessions.end(below: session)
/// }
/// ```
///
/// The site finds the session of the app by the value of a cookie (``session(of:)``). When the app signs out, all
/// cookies below its session end at once. Several servers of one site need a store that they share.
public final class WebSessionMemory: Sendable {
    /// Values by their keys, of which the oldest half is removed when there are too many.
    private struct Recent<Value> {
        let maximumCount: Int
        private var young: [String: Value] = [:]
        private var old: [String: Value] = [:]

        init(_ maximumCount: Int) { self.maximumCount = maximumCount }

        subscript(key: String) -> Value? {
            get { young[key] ?? old[key] }
            set {
                old[key] = nil
                young[key] = newValue
                if young.count > maximumCount / 2 { (old, young) = (young, [:]) }
            }
        }
    }

    private struct State {
        /// The session of the app, by the value of the cookie.
        var sessions: Recent<String>
        /// The values of the cookies that belong to each session of the app, oldest first. All other cookies are
        /// invalid.
        var cookies: Recent<[String]>
        /// The sessions of the app that have ended, whose codes may still be valid.
        var ended: Recent<Void>
    }

    private let maximumCookiesPerSession: Int
    /// Guards the sessions, and those that have ended.
    private let state: Mutex<State>

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - maximumSessions: The greatest number of sessions of the app that have cookies, and of those that have ended
    ///     and are remembered. When there are more, the older half is removed; its users sign in again. The default is
    ///     100,000.
    ///   - maximumCookiesPerSession: The greatest number of cookies below one session. The default is 8.
    public init(maximumSessions: Int = 100_000, maximumCookiesPerSession: Int = 8) {
        self.maximumCookiesPerSession = maximumCookiesPerSession
        state = Mutex(
            State(
                sessions: Recent(maximumSessions * maximumCookiesPerSession), cookies: Recent(maximumSessions),
                ended: Recent(maximumSessions)))
    }

    /// Begins a web session, and returns the value of its cookie; `nil` if the session of the app has ended.
    public func begin(below session: String) -> String? {
        let cookie = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined(separator: "-")
        return state.withLock { state in
            guard state.ended[session] == nil else { return nil }
            state.sessions[cookie] = session
            let cookies = (state.cookies[session] ?? []) + [cookie]
            for gone in cookies.dropLast(maximumCookiesPerSession) { state.sessions[gone] = nil }
            state.cookies[session] = cookies.suffix(maximumCookiesPerSession)
            return cookie
        }
    }

    /// Returns the session of the app below which a cookie was set; `nil` if the session or the cookie has ended.
    public func session(of cookie: String) -> String? {
        state.withLock { state in
            state.sessions[cookie].flatMap { session in
                state.cookies[session]?.contains(cookie) == true ? session : nil
            }
        }
    }

    /// Ends all web sessions below a session of the app. Codes of that session set no cookie any more.
    public func end(below session: String) {
        state.withLock { state in
            for cookie in state.cookies[session] ?? [] { state.sessions[cookie] = nil }
            state.cookies[session] = nil
            state.ended[session] = ()
        }
    }
}
