# Finds LMDB, and sets `libraries` to link it with the library indexes/lmdb.
find_path(LMDB_INCLUDE lmdb.h)
find_library(LMDB_LIBRARY lmdb)
if(NOT LMDB_INCLUDE OR NOT LMDB_LIBRARY)
  message(FATAL_ERROR "indexes/lmdb needs LMDB: install the package liblmdb-dev")
endif()
set(libraries ${LMDB_LIBRARY})
