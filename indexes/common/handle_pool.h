// HandlePool: the handles of one thread. Closed handles are never freed, so closing a handle twice
// does not crash. A closed handle is used again by a later open(); before that, a second close can be
// detected.
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
