// guarded: runs a call of contract A (keydrome/index.h), which no exception may leave.
//
// Thread safety: that of the call.
#pragma once

#include <exception>

#include "keydrome/index.h"

namespace keydrome {

// Returns the code of body(), or FAILURE if it throws. Libraries here throw only std::bad_alloc.
template <typename Body>
ErrCode guarded(Body body) {
  try {
    return body();
  } catch (const std::exception&) {
    return FAILURE;
  }
}

}  // namespace keydrome
