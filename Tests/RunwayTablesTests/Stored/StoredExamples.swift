import RunwayTables
import Testing

private enum Theme: String, Codable { case light, dark }

#if canImport(Security)
    /// The example of the documentation, which is compiled and not run: it would change the tester's keychain.
    private func useStoredValues() async throws {
        let theme = Stored<Theme>("theme", in: .preferences())
        let token = Stored<Secret<String>>("token", in: .keychain(), moved: .from(.preferences()))
        try await theme.set(.dark)
        let shown = try await theme.value() ?? .light
        #expect(try await token.value() == nil && shown == .dark)
    }
#endif
