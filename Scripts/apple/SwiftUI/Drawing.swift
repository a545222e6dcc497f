public import AppleFoundation

// What RunwayViews uses of SwiftUI, as developer.apple.com/documentation/swiftui declares it. Nothing is drawn.

// developer.apple.com: Color, ColorScheme, ShapeStyle, AnyShapeStyle
public protocol ShapeStyle: Sendable {}
public struct AnyShapeStyle: ShapeStyle { public init<S: ShapeStyle>(_ style: S) {} }
public struct ForegroundStyle: ShapeStyle { public init() {} }
extension ShapeStyle where Self == ForegroundStyle { public static var foreground: ForegroundStyle { ForegroundStyle() } }
public struct Color: View, ShapeStyle {
    public nonisolated init(red: Double, green: Double, blue: Double, opacity: Double = 1) {}
    public nonisolated static let clear = Color(red: 0, green: 0, blue: 0, opacity: 0)
    public var body: Never { fatalError("Nothing is drawn.") }
}
public enum ColorScheme: CaseIterable, Sendable { case light, dark }

// developer.apple.com: Font, TextAlignment
public struct Font: Hashable, Sendable {
    public struct Weight: Hashable, Sendable {
        public static let regular = Weight(), medium = Weight(), semibold = Weight(), bold = Weight()
    }
    public static let caption = Font(), footnote = Font(), callout = Font(), body = Font()
    public static let title3 = Font(), title2 = Font(), title = Font(), largeTitle = Font()
}
public enum TextAlignment: Hashable, CaseIterable, Sendable { case leading, center, trailing }

// developer.apple.com: HorizontalAlignment, VerticalAlignment, Alignment, Axis, Edge, ContentMode, LayoutDirection
public struct HorizontalAlignment: Equatable, Sendable {
    public static let leading = HorizontalAlignment(), center = HorizontalAlignment(), trailing = HorizontalAlignment()
}
public struct VerticalAlignment: Equatable, Sendable {
    public static let top = VerticalAlignment(), center = VerticalAlignment(), bottom = VerticalAlignment()
}
public struct Alignment: Equatable, Sendable {
    public init(horizontal: HorizontalAlignment, vertical: VerticalAlignment) {}
    public static let topLeading = Alignment(horizontal: .leading, vertical: .top)
    public static let center = Alignment(horizontal: .center, vertical: .center)
}
public enum Axis: Sendable {
    case horizontal, vertical
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let horizontal = Set(rawValue: 1), vertical = Set(rawValue: 2)
    }
}
public enum Edge: Sendable {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { self.rawValue = rawValue }
        public static let horizontal = Set(rawValue: 1), vertical = Set(rawValue: 2)
    }
}
public enum ContentMode: Hashable, CaseIterable, Sendable { case fit, fill }
public enum LayoutDirection: Hashable, CaseIterable, Sendable { case leftToRight, rightToLeft }
public struct UnitPoint: Hashable, Sendable { public static let topLeading = UnitPoint(), center = UnitPoint() }

// developer.apple.com: EnvironmentValues
extension EnvironmentValues {
    public var colorScheme: ColorScheme {
        get { .light }
        set {}
    }
    public var font: Font? {
        get { nil }
        set {}
    }
    public var multilineTextAlignment: TextAlignment {
        get { .leading }
        set {}
    }
    public var lineLimit: Int? {
        get { nil }
        set {}
    }
    public var layoutDirection: LayoutDirection {
        get { .leftToRight }
        set {}
    }
    public var accessibilityReduceMotion: Bool { false }
}

// developer.apple.com: HStack, VStack, ZStack, LazyHStack, LazyVStack, ScrollView, Spacer, EmptyView
public struct HStack<Content: View>: View {
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct VStack<Content: View>: View {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct ZStack<Content: View>: View {
    public init(alignment: Alignment = .center, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct LazyHStack<Content: View>: View {
    public init(alignment: VerticalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct LazyVStack<Content: View>: View {
    public init(alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct ScrollView<Content: View>: View {
    public init(_ axes: Axis.Set = .vertical, showsIndicators: Bool = true, @ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct Spacer: View {
    public init(minLength: CGFloat? = nil) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct EmptyView: View {
    public init() {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: Image, AsyncImage, Toggle, Button, ForEach
public struct Image: View {
    public func resizable() -> Image { self }
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct AsyncImage<Content: View>: View {
    public init<I: View, P: View>(
        url: URL?, scale: CGFloat = 1, @ViewBuilder content: @escaping (Image) -> I, @ViewBuilder placeholder: @escaping () -> P
    ) where Content == Leaf {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct Toggle: View {
    public init<S: StringProtocol>(_ title: S, isOn: Binding<Bool>) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
extension Button {
    public init<Label: View>(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label) {}
}
public struct PlainButtonStyle: Sendable {}
public protocol PrimitiveButtonStyle {}
extension PlainButtonStyle: PrimitiveButtonStyle {}
extension PrimitiveButtonStyle where Self == PlainButtonStyle { public static var plain: PlainButtonStyle { PlainButtonStyle() } }
/// The element of a `ForEach` over indices.
public struct IndexedForEach: Identifiable { public var id: Int }
extension ForEach where Data.Element == IndexedForEach {
    /// SwiftUI takes a key path to any hashable value; a stub of `ForEach` without an `ID` takes indices.
    public init(_ data: Range<Int>, id: KeyPath<Int, Int>, @ViewBuilder content: @escaping (Int) -> Content)
    where Data == [IndexedForEach] {}
}

// developer.apple.com: Layout, LayoutSubview, ProposedViewSize
public struct ProposedViewSize: Equatable, Sendable {
    public var width, height: CGFloat?
    public init(_ size: CGSize) { (width, height) = (size.width, size.height) }
    private init() {}
    public static let unspecified = ProposedViewSize()
}
public struct LayoutSubview: Equatable {
    public func sizeThatFits(_ proposal: ProposedViewSize) -> CGSize { .zero }
    public func place(at position: CGPoint, anchor: UnitPoint = .topLeading, proposal: ProposedViewSize) {}
}
public protocol Layout {
    typealias Subviews = [LayoutSubview]
    associatedtype Cache = Void
    func sizeThatFits(proposal: ProposedViewSize, subviews: Subviews, cache: inout Cache) -> CGSize
    func placeSubviews(in bounds: CGRect, proposal: ProposedViewSize, subviews: Subviews, cache: inout Cache)
}
extension Layout {
    @MainActor public func callAsFunction<V: View>(@ViewBuilder _ content: () -> V) -> some View { Leaf() }
}

// developer.apple.com: Shape, RoundedRectangle, Path, Angle
public protocol Shape: Sendable {
    func path(in rect: CGRect) -> Path
}
public struct RoundedRectangle: Shape {
    public init(cornerRadius: CGFloat) {}
    public func path(in rect: CGRect) -> Path { Path(rect) }
    @MainActor public func strokeBorder<S: ShapeStyle>(_ content: S, lineWidth: CGFloat = 1) -> some View { Spacer() }
}
public struct Path: Equatable, Sendable {
    public init(_ rect: CGRect) {}
    public init(roundedRect rect: CGRect, cornerRadius: CGFloat) {}
}
public struct Angle: Sendable { public static func degrees(_ degrees: Double) -> Angle { Angle() } }

// developer.apple.com: Animation, withAnimation, VisualEffect, GeometryProxy
public struct Animation: Sendable {
    public static func linear(duration: TimeInterval) -> Animation { Animation() }
    public func repeatForever(autoreverses: Bool = true) -> Animation { self }
}
public func withAnimation<Result>(_ animation: Animation? = nil, _ body: () throws -> Result) rethrows -> Result { try body() }
public protocol VisualEffect: Sendable {}
public struct EmptyVisualEffect: VisualEffect {}
extension VisualEffect {
    public func offset(x: CGFloat = 0, y: CGFloat = 0) -> some VisualEffect { self }
    public func opacity(_ opacity: Double) -> some VisualEffect { self }
    public func scaleEffect(_ scale: CGFloat) -> some VisualEffect { self }
    public func rotationEffect(_ angle: Angle) -> some VisualEffect { self }
}
public struct GeometryProxy { public var size: CGSize { .zero } }

// developer.apple.com: AccessibilityTraits
public struct AccessibilityTraits: SetAlgebra, Sendable {
    public static let isHeader = AccessibilityTraits()
    public init() {}
    public func contains(_ member: AccessibilityTraits) -> Bool { false }
    public func union(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public func intersection(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public func symmetricDifference(_ other: AccessibilityTraits) -> AccessibilityTraits { self }
    public mutating func insert(_ member: AccessibilityTraits) -> (inserted: Bool, memberAfterInsert: AccessibilityTraits) { (true, member) }
    public mutating func remove(_ member: AccessibilityTraits) -> AccessibilityTraits? { nil }
    public mutating func update(with member: AccessibilityTraits) -> AccessibilityTraits? { nil }
    public mutating func formUnion(_ other: AccessibilityTraits) {}
    public mutating func formIntersection(_ other: AccessibilityTraits) {}
    public mutating func formSymmetricDifference(_ other: AccessibilityTraits) {}
}

// developer.apple.com: ScrollTargetBehavior
public protocol ScrollTargetBehavior {}
public struct PagingScrollTargetBehavior: ScrollTargetBehavior {}
extension ScrollTargetBehavior where Self == PagingScrollTargetBehavior {
    public static var paging: PagingScrollTargetBehavior { PagingScrollTargetBehavior() }
}

// developer.apple.com: View's modifiers
extension View {
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func fontWeight(_ weight: Font.Weight?) -> some View { self }
    public func multilineTextAlignment(_ alignment: TextAlignment) -> some View { self }
    public func lineLimit(_ number: Int?) -> some View { self }
    public func underline(_ isActive: Bool = true) -> some View { self }
    public func strikethrough(_ isActive: Bool = true) -> some View { self }
    public func fixedSize(horizontal: Bool, vertical: Bool) -> some View { self }
    public func padding(_ edges: Edge.Set, _ length: CGFloat? = nil) -> some View { self }
    public func frame(width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center) -> some View { self }
    public func frame(
        minWidth: CGFloat? = nil, maxWidth: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func aspectRatio(_ ratio: CGFloat? = nil, contentMode: ContentMode) -> some View { self }
    public func background<S: ShapeStyle>(_ style: S) -> some View { self }
    public func overlay<V: View>(_ overlay: V, alignment: Alignment = .center) -> some View { self }
    public func clipShape<S: Shape>(_ shape: S) -> some View { self }
    public func shadow(radius: CGFloat, x: CGFloat = 0, y: CGFloat = 0) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func rotationEffect(_ angle: Angle) -> some View { self }
    public func scaleEffect(_ scale: CGFloat) -> some View { self }
    public func visualEffect(
        _ effect: @escaping @Sendable (EmptyVisualEffect, GeometryProxy) -> some VisualEffect
    ) -> some View { self }
    public func accessibilityLabel(_ label: Text, isEnabled: Bool) -> some View { self }
    public func accessibilityAddTraits(_ traits: AccessibilityTraits) -> some View { self }
    public func accessibilityHidden(_ hidden: Bool) -> some View { self }
    public func id<ID: Hashable>(_ id: ID) -> some View { self }
    public func labelsHidden() -> some View { self }
    public func onSubmit(_ action: @escaping () -> Void) -> some View { self }
    public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> some View { self }
    public func scrollTargetLayout() -> some View { self }
    public func scrollTargetBehavior(_ behavior: some ScrollTargetBehavior) -> some View { self }
    public func containerRelativeFrame(_ axes: Axis.Set) -> some View { self }
}
