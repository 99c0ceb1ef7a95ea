// guarded(): runs the body of a call of contract A (keydrome/index.h), and returns FAILURE if the
// body throws. The calls are C functions, so no exception may leave them.
//
// Thread safety: that of the body.
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
