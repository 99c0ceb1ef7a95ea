# Sets `libraries`: options.cc parses JSON.
set(libraries base)
