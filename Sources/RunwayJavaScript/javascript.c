// The library is the system's; a target needs one file of its own.
