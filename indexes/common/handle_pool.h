// HandlePool: the index handles of one thread, which openIndex returns and closeIndex closes. The
// memory of a closed handle is not freed, so closing the handle twice does not crash. A later
// open() returns a closed handle again. Until then, a library can detect the second close.
//
// Thread safety: a HandlePool belongs to one thread.
#pragma once

#include <deque>
#include <vector>

namespace keydrome {

template <typename Handle>
class HandlePool {
 public:
  // Returns a handle that is not open. The pointer stays valid as long as the pool. Throws
  // std::bad_alloc.
  Handle* open() {
    if (closed_.empty()) {
      closed_.reserve(handles_.size() + 1);  // so that close() cannot fail
      closed_.push_back(&handles_.emplace_back());
    }
    Handle* const handle = closed_.back();
    closed_.pop_back();
    return handle;
  }

  // `handle` must be open, and must be of this pool.
  void close(Handle* handle) { closed_.push_back(handle); }

 private:
  std::deque<Handle> handles_;
  std::vector<Handle*> closed_;
};

}  // namespace keydrome
