public import class Foundation.NSArray
public import class Foundation.NSData
public import class Foundation.NSDictionary
public import class Foundation.NSError
public import class Foundation.NSString

// developer.apple.com: CFTypeRef, CFArray, CFData, CFDictionary, CFError, CFString; each is bridged with Foundation's class.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFError = NSError
