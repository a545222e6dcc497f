import Darwin
import Glibc

// The manual page stat(2). A module of Swift, unlike Darwin, can't have a structure and a function of one name.
@discardableResult
public func stat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<Darwin.stat>!) -> Int32 {
    var read = Glibc.stat()
    let result = glibcStat(path, &read)
    status.pointee = Darwin.stat(read)
    return result
}
@_silgen_name("stat") private func glibcStat(_ path: UnsafePointer<CChar>!, _ status: UnsafeMutableRawPointer!) -> Int32
