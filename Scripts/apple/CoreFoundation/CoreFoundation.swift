public import class Foundation.NSDictionary
public import class Foundation.NSString

// developer.apple.com: CFTypeRef, CFString, CFDictionary; each is bridged with Foundation's class.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
