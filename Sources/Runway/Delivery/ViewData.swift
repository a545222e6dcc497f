/// What one row, pin or screen shows: a dictionary whose keys are typed constants.
///
/// ```swift
/// var row = ViewData()
/// row[PropertyListKeys.title] = item["title"].string
/// label.text = row[PropertyListKeys.title]
/// ```
///
/// Meant for the few values that one view shows; a lookup looks at them in turn.
public struct ViewData: Sendable {
    private(set) var entries: [(name: String, value: any Sendable)] = []

    /// Makes an empty dictionary.
    public init() {}

    /// The value of a key; `nil` where there is none. Setting `nil` removes it.
    public subscript<Value>(key: ViewKey<Value>) -> Value? {
        get { entries.first { $0.name == key.name }?.value as? Value }
        set {
            let index = entries.firstIndex { $0.name == key.name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append((key.name, value))
            case (nil, nil): break
            }
        }
    }

    /// The number of values.
    public var count: Int { entries.count }
}
