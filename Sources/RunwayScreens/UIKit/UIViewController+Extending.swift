#if canImport(UIKit) && !os(watchOS)
    import ObjectiveC
    import UIKit

    extension UIViewController {
        private static var witnessKey: UInt8 = 0

        /// An object that is released together with the controller.
        var witness: Witness? {
            get { objc_getAssociatedObject(self, &Self.witnessKey) as? Witness }
            set { objc_setAssociatedObject(self, &Self.witnessKey, newValue, .OBJC_ASSOCIATION_RETAIN_NONATOMIC) }
        }

        /// Adds a statement to the end of a method without parameters of this class.
        static func extend(_ selector: Selector, by statement: @escaping @MainActor (UIViewController) -> Void) {
            replace(selector) { original in
                typealias Original = @convention(c) (UIViewController, Selector) -> Void
                let original = unsafeBitCast(original, to: Original.self)
                let extended: @convention(block) (UIViewController) -> Void = { controller in
                    original(controller, selector)
                    statement(controller)
                }
                return imp_implementationWithBlock(extended)
            }
        }

        /// Adds a statement to the end of a method of this class with the parameter `animated`.
        static func extendAnimated(_ selector: Selector, by statement: @escaping @MainActor (UIViewController) -> Void)
        {
            replace(selector) { original in
                typealias Original = @convention(c) (UIViewController, Selector, Bool) -> Void
                let original = unsafeBitCast(original, to: Original.self)
                let extended: @convention(block) (UIViewController, Bool) -> Void = { controller, animated in
                    original(controller, selector, animated)
                    statement(controller)
                }
                return imp_implementationWithBlock(extended)
            }
        }

        /// Replaces the implementation of a method of this class, and no other's. The new one receives the original,
        /// which it calls with the method's own selector: code that looks at `_cmd` finds what it would find without
        /// it.
        private static func replace(_ selector: Selector, by makeImplementation: (IMP) -> IMP) {
            guard let method = class_getInstanceMethod(self, selector) else {
                preconditionFailure("expected UIViewController to have \(selector)")
            }
            let implementation = makeImplementation(method_getImplementation(method))
            class_replaceMethod(self, selector, implementation, method_getTypeEncoding(method))
        }
    }
#endif
