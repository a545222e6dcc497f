// developer.apple.com: Date's operators +, -, += and -=, which an export by name leaves out.
public func + (date: Date, interval: TimeInterval) -> Date { date.addingTimeInterval(interval) }
public func - (date: Date, interval: TimeInterval) -> Date { date.addingTimeInterval(-interval) }
public func += (date: inout Date, interval: TimeInterval) { date.addTimeInterval(interval) }
public func -= (date: inout Date, interval: TimeInterval) { date.addTimeInterval(-interval) }
