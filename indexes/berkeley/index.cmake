# Finds Berkeley DB 5.3, and sets `libraries` to link it with the library indexes/berkeley.
find_path(BERKELEY_INCLUDE db.h)
find_library(BERKELEY_LIBRARY db-5.3)
if(NOT BERKELEY_INCLUDE OR NOT BERKELEY_LIBRARY)
  message(FATAL_ERROR "indexes/berkeley needs Berkeley DB 5.3: install the package libdb5.3-dev")
endif()
set(libraries ${BERKELEY_LIBRARY})
