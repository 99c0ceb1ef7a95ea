// The indexes by name.
//
// Thread safety: all functions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "keydrome/index.h"
#include "runtime/index.h"

namespace keydrome::runtime {

class Catalog {
 public:
  bool has(std::string_view name) const;
  // SUCCESS or DB_EXISTS.
  ErrCode add(const std::shared_ptr<Index>& index);
  // The index, pinned, or nullptr.
  std::shared_ptr<Index> find_and_pin(std::string_view name) const;
  // SUCCESS, DB_DNE, or FAILURE while a handle or a transaction uses it.
  ErrCode remove(std::string_view name);
  std::vector<std::shared_ptr<Index>> all() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Index>, std::less<>> indexes_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome::runtime
