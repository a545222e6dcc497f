public import AppleFoundation
@_exported public import Observation

// What the samples and RunwayScreens use of SwiftUI (RunwayViews: Drawing.swift), as developer.apple.com/documentation/swiftui declares it. Nothing is drawn.

// developer.apple.com: View
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}
extension Optional: View where Wrapped: View { public var body: Never { fatalError("Nothing is drawn.") } }
extension Never: View { public var body: Never { fatalError("Never has no body.") } }
/// A view without a body of its own.
public struct Leaf: View {
    public nonisolated init() {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: ViewBuilder
@resultBuilder public struct ViewBuilder {
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<First: View, Second: View, each Rest: View>(
        _ first: First, _ second: Second, _ rest: repeat each Rest
    ) -> Leaf { Leaf() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View>(first: First) -> Leaf { Leaf() }
    public static func buildEither<Second: View>(second: Second) -> Leaf { Leaf() }
}

// developer.apple.com: App, Scene, SceneBuilder, WindowGroup
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}
extension App { public static func main() {} }
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    var body: Body { get }
}
extension Never: Scene {}
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: State, Binding
@propertyWrapper public struct State<Value> {
    private var value: Value
    public init(wrappedValue: Value) { value = wrappedValue }
    public init(initialValue: Value) { value = initialValue }
    public var wrappedValue: Value {
        get { value }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { Binding(get: { value }, set: { _ in }) }
}
@propertyWrapper public struct Binding<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (read, write) = (get, set) }
    public var wrappedValue: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
    public var projectedValue: Binding<Value> { self }
}

// developer.apple.com: ViewModifier
@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = Leaf
    @ViewBuilder func body(content: Content) -> Body
}

// developer.apple.com: EnvironmentValues, EnvironmentKey, Environment, ScenePhase
public protocol EnvironmentKey {
    associatedtype Value
    static var defaultValue: Value { get }
}
public struct EnvironmentValues {
    public init() {}
    public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
        get { K.defaultValue }
        set {}
    }
    public var scenePhase: ScenePhase {
        get { .active }
        set {}
    }
}
@propertyWrapper public struct Environment<Value> {
    private let keyPath: KeyPath<EnvironmentValues, Value>
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { self.keyPath = keyPath }
    public var wrappedValue: Value { EnvironmentValues()[keyPath: keyPath] }
}
public enum ScenePhase: Comparable, Sendable { case background, inactive, active }

// developer.apple.com: Text, ProgressView, TextField, SecureField, Button
public struct Text: View {
    public init<S: StringProtocol>(_ content: S) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct ProgressView: View {
    public init() {}
    public init<V: BinaryFloatingPoint>(value: V?, total: V = 1) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct TextField: View {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct SecureField: View {
    public init<S: StringProtocol>(_ title: S, text: Binding<String>) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct Button: View {
    public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: List, Form, ForEach
public struct List<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct Form<Content: View>: View {
    public init(@ViewBuilder content: () -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
public struct ForEach<Data: RandomAccessCollection, Content: View>: View where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: AnyView
public struct AnyView: View {
    public init<V: View>(_ view: V) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}

// developer.apple.com: NavigationStack, NavigationPath, NavigationLink
public struct NavigationPath {}
public struct NavigationStack<Data, Root: View>: View {
    public init(path: Binding<Data>, @ViewBuilder root: () -> Root)
    where
        Data: MutableCollection, Data: RandomAccessCollection, Data: RangeReplaceableCollection,
        Data.Element: Hashable
    {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
extension NavigationStack where Data == NavigationPath {
    public init(@ViewBuilder root: () -> Root) {}
}
public struct NavigationLink<Destination: View>: View {
    public init<S: StringProtocol>(_ title: S, @ViewBuilder destination: () -> Destination) {}
    public var body: Never { fatalError("Nothing is drawn.") }
}
extension NavigationLink where Destination == Never {
    public init<S: StringProtocol, P: Hashable>(_ title: S, value: P?) {}
}

// developer.apple.com: View's modifiers
extension View {
    public func navigationTitle<S: StringProtocol>(_ title: S) -> some View { self }
    public func navigationDestination<D: Hashable, C: View>(
        for data: D.Type, @ViewBuilder destination: @escaping (D) -> C
    ) -> some View { self }
    public func sheet<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View { self }
    public func fullScreenCover<Item: Identifiable, Content: View>(
        item: Binding<Item?>, onDismiss: (() -> Void)? = nil, @ViewBuilder content: @escaping (Item) -> Content
    ) -> some View { self }
    public func searchable(text: Binding<String>) -> some View { self }
    public func disabled(_ disabled: Bool) -> some View { self }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
    public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View { self }
    public func modifier<M: ViewModifier>(_ modifier: M) -> some View { Leaf() }
    public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { self }
    public func task(@_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void) -> some View {
        self
    }
    public func task<ID: Equatable>(
        id: ID, @_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void
    ) -> some View { self }
}
