// What Foundation has on Linux as on Apple's systems, by name: a whole export would bring Glibc with it.
@_exported import AppleDispatch
@_exported import CoreFoundation
@_exported import Darwin
@_exported import DarwinStat

@_exported import class Foundation.Bundle
@_exported import struct Foundation.CGFloat
@_exported import struct Foundation.CGPoint
@_exported import struct Foundation.CGRect
@_exported import struct Foundation.CGSize
@_exported import struct Foundation.Calendar
@_exported import struct Foundation.CharacterSet
@_exported import struct Foundation.CocoaError
@_exported import struct Foundation.Data
@_exported import protocol Foundation.DataProtocol
@_exported import struct Foundation.Date
@_exported import struct Foundation.DateComponents
@_exported import class Foundation.DateFormatter
@_exported import struct Foundation.Decimal
@_exported import struct Foundation.FileAttributeKey
@_exported import struct Foundation.FileAttributeType
@_exported import class Foundation.FileHandle
@_exported import class Foundation.FileManager
@_exported import struct Foundation.FileProtectionType
@_exported import struct Foundation.IndexPath
@_exported import class Foundation.JSONDecoder
@_exported import class Foundation.JSONEncoder
@_exported import class Foundation.JSONSerialization
@_exported import struct Foundation.Locale
@_exported import protocol Foundation.LocalizedError
@_exported import class Foundation.NSCoder
@_exported import class Foundation.NSCondition
@_exported import class Foundation.NSDictionary
@_exported import class Foundation.NSError
@_exported import func Foundation.NSHomeDirectory
@_exported import let Foundation.NSLocalizedDescriptionKey
@_exported import class Foundation.NSLock
@_exported import class Foundation.NSNull
@_exported import class Foundation.NSNumber
@_exported import class Foundation.NSObject
@_exported import protocol Foundation.NSObjectProtocol
@_exported import class Foundation.NSString
@_exported import func Foundation.NSTemporaryDirectory
@_exported import struct Foundation.Notification
@_exported import class Foundation.NotificationCenter
@_exported import struct Foundation.ObjCBool
@_exported import class Foundation.OperationQueue
@_exported import struct Foundation.POSIXError
@_exported import enum Foundation.POSIXErrorCode
@_exported import class Foundation.Pipe
@_exported import class Foundation.Process
@_exported import class Foundation.ProcessInfo
@_exported import class Foundation.PropertyListDecoder
@_exported import class Foundation.PropertyListEncoder
@_exported import class Foundation.PropertyListSerialization
@_exported import class Foundation.Thread
@_exported import typealias Foundation.TimeInterval
@_exported import struct Foundation.TimeZone
@_exported import struct Foundation.URL
@_exported import struct Foundation.URLComponents
@_exported import struct Foundation.URLError
@_exported import struct Foundation.URLQueryItem
@_exported import struct Foundation.UUID
@_exported import class Foundation.UserDefaults
