import Testing

// The expectations of Swift Testing as functions, for tests that are compiled and not run: see Scripts/apple.sh.

func expectation(_ condition: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil) {}

@discardableResult
func expectation<E: Error, R>(
    throws type: E.Type, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () throws -> R
) -> E? { nil }

@discardableResult
func expectation<E: Error, R>(
    throws type: E.Type, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () async throws -> R
) async -> E? { nil }

@discardableResult
func expectation<E: Error & Equatable, R>(
    throws error: E, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () throws -> R
) -> E? { nil }

@discardableResult
func expectation<E: Error & Equatable, R>(
    throws error: E, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () async throws -> R
) async -> E? { nil }

func requirement(_ condition: Bool, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil) throws {}

@discardableResult
func requirement<T>(_ value: T?, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil) throws -> T { fatalError() }

@discardableResult
func requirement<E: Error, R>(
    throws type: E.Type, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () throws -> R
) throws -> E { fatalError() }

@discardableResult
func requirement<E: Error, R>(
    throws type: E.Type, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () async throws -> R
) async throws -> E { fatalError() }

@discardableResult
func requirement<E: Error & Equatable, R>(
    throws error: E, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () throws -> R
) throws -> E { fatalError() }

@discardableResult
func requirement<E: Error & Equatable, R>(
    throws error: E, _ comment: Comment? = nil, sourceLocation: SourceLocation? = nil,
    performing body: () async throws -> R
) async throws -> E { fatalError() }
