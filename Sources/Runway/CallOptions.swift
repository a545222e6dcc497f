/// What one call asks for that differs from what its endpoint says.
///
/// ```swift
/// rentals.load(RentalList(city: "上海"), options: CallOptions())
/// ```
public struct CallOptions: Sendable {
    /// Nothing differs.
    public static let standard = CallOptions()

    /// Makes options in which nothing differs.
    public init() {}
}
