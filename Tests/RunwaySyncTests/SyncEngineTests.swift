import Testing

struct SyncEngineTests {}
