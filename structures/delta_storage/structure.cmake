# Sets `libraries` to Keydrome's library base, because options.cc parses JSON with base/json.h.
set(libraries base)
