// developer.apple.com: autoreleasepool(invoking:), which Foundation exports from ObjectiveC

public func autoreleasepool<Value>(invoking body: () throws -> Value) rethrows -> Value { try body() }
