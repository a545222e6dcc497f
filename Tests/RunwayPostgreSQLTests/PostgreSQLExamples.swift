#if PostgreSQL
    import Hummingbird
    import RunwayPostgreSQL
    import RunwayServer

    // The example in the doc comment of PostgreSQLActionLogSink, line by line. It is compiled and not run.

    private func addLog(to router: Router<BasicRequestContext>) async throws {
        let sink = try await PostgreSQLActionLogSink(at: "postgres://log@db.example.com/actions")
        ActionLogRoute(to: sink).add(to: router.group("v1"))
    }
#endif
