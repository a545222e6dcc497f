// A fake of the part of the Objective-C runtime that replaces methods and associates objects, as developer.apple.com/documentation/objectivec
// documents it. Swift on Linux has no #selector, no blocks, and no objects as arguments of C functions: Scripts/apple.sh writes a
// selector as text, and blocks and C functions as closures, so that an IMP has the size of a closure here.

// developer.apple.com/documentation/objectivec/selector
public struct Selector: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    public init(_ name: String) { description = name }
}

// developer.apple.com/documentation/objectivec/imp, which is a pointer there
public struct IMP {
    private let function: UnsafeRawPointer
    private let context: AnyObject?
}

// developer.apple.com/documentation/objectivec/method, which is a pointer there
public struct Method {
    fileprivate let implementation: IMP
    fileprivate let types: StaticString
}

/// The methods of classes.
public enum FakeRuntime {
    private struct Name: Hashable {
        let type: ObjectIdentifier
        let selector: Selector
    }

    private nonisolated(unsafe) static var methods: [Name: Method] = [:]
    /// How often each method was replaced.
    public private(set) nonisolated(unsafe) static var replacements: [Selector: Int] = [:]

    /// Declares a method, as the compiler of Objective-C does. A second declaration has no effect.
    public static func declare<Object: AnyObject>(
        _ selector: Selector, of type: Object.Type, _ function: @escaping (Object, Selector) -> Void
    ) { declare(Name(type: ObjectIdentifier(type), selector: selector), unsafeBitCast(function, to: IMP.self), "v@:") }

    /// Declares a method with the parameter `animated`.
    public static func declare<Object: AnyObject>(
        _ selector: Selector, of type: Object.Type, _ function: @escaping (Object, Selector, Bool) -> Void
    ) {
        declare(Name(type: ObjectIdentifier(type), selector: selector), unsafeBitCast(function, to: IMP.self), "v@:B")
    }

    private static func declare(_ name: Name, _ implementation: IMP, _ types: StaticString) {
        if methods[name] == nil { methods[name] = Method(implementation: implementation, types: types) }
    }

    /// The method that a message of a selector calls in objects of a class.
    public static func method(_ selector: Selector, of type: AnyClass) -> Method? {
        (type as? any FakeObject.Type)?.declareMethods()
        return methods[Name(type: ObjectIdentifier(type), selector: selector)]
    }

    fileprivate static func replace(_ selector: Selector, of type: AnyClass, _ implementation: IMP, _ types: String) -> IMP? {
        let name = Name(type: ObjectIdentifier(type), selector: selector)
        guard let old = methods[name] else { fatalError("the fake adds no methods: \(selector)") }
        precondition("\(old.types)" == types, "the replacement of \(selector) has other types")
        replacements[selector, default: 0] += 1
        methods[name] = Method(implementation: implementation, types: old.types)
        return old.implementation
    }
}

// developer.apple.com/documentation/objectivec/class_getinstancemethod(_:_:)
public func class_getInstanceMethod(_ cls: AnyClass?, _ name: Selector) -> Method? {
    cls.flatMap { FakeRuntime.method(name, of: $0) }
}
// developer.apple.com/documentation/objectivec/method_getimplementation(_:)
public func method_getImplementation(_ m: Method) -> IMP { m.implementation }
// developer.apple.com/documentation/objectivec/method_gettypeencoding(_:)
public func method_getTypeEncoding(_ m: Method) -> UnsafePointer<CChar>? {
    UnsafeRawPointer(m.types.utf8Start).assumingMemoryBound(to: CChar.self)
}
// developer.apple.com/documentation/objectivec/class_replacemethod(_:_:_:_:)
@discardableResult
public func class_replaceMethod(
    _ cls: AnyClass?, _ name: Selector, _ imp: IMP, _ types: UnsafePointer<CChar>?
) -> IMP? {
    cls.flatMap { FakeRuntime.replace(name, of: $0, imp, types.map { String(cString: $0) } ?? "") }
}
// developer.apple.com/documentation/objectivec/imp_implementationwithblock(_:), whose parameter has the type Any there. A block has no
// selector among its parameters.
public func imp_implementationWithBlock<Object: AnyObject>(_ block: @escaping (Object) -> Void) -> IMP {
    let function: (Object, Selector) -> Void = { object, _ in block(object) }
    return unsafeBitCast(function, to: IMP.self)
}
public func imp_implementationWithBlock<Object: AnyObject>(_ block: @escaping (Object, Bool) -> Void) -> IMP {
    let function: (Object, Selector, Bool) -> Void = { object, _, animated in block(object, animated) }
    return unsafeBitCast(function, to: IMP.self)
}

/// An object of UIKit, which releases what is associated with it.
public protocol FakeObject: AnyObject {
    /// Declares the methods of its class.
    static func declareMethods()
    var fakeAssociations: [UnsafeRawPointer: Any] { get set }
}
// developer.apple.com/documentation/objectivec/objc_associationpolicy
public enum objc_AssociationPolicy: UInt, Sendable { case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1 }
// developer.apple.com/documentation/objectivec/objc_getassociatedobject(_:_:)
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    (object as? any FakeObject)?.fakeAssociations[key]
}
// developer.apple.com/documentation/objectivec/objc_setassociatedobject(_:_:_:_:)
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) { (object as? any FakeObject)?.fakeAssociations[key] = value }
