#if !Storage
    #error("RunwaySync needs the package trait Storage.")
#endif
