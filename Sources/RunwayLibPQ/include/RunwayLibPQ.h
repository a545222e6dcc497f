#ifndef RUNWAY_LIBPQ_H
#define RUNWAY_LIBPQ_H

// Imported only where the package trait "PostgreSQL" is on, and the library with it. Debian has the header in a folder.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#endif
