// NIOPosix by name: a whole export would bring Glibc with it.
@_exported import class NIOPosix.ClientBootstrap
@_exported import class NIOPosix.MultiThreadedEventLoopGroup
@_exported import struct NIOPosix.NIOConnectionError
@_exported import class NIOPosix.ServerBootstrap
@_exported import class NIOPosix.NIOThreadPool
