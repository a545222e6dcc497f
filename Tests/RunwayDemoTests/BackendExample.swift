import RunwayDemo

/// The example in the doc comment of `withListingsBackend`. It is compiled and not run.
func runBackend() async throws {
    try await withListingsBackend(ListingsBackend(seed: 7)) { backend in
        print(backend.baseURL)
    }
}
