// The catalog: finds, adds and deletes the indexes of a runtime by name. A handle or a transaction
// that uses an index pins it, and a pinned index cannot be deleted.
//
// Thread safety: any thread may call any function.
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
  // Returns SUCCESS or DB_EXISTS.
  ErrCode add(const std::shared_ptr<Index>& index);
  // Pins and returns the index, or returns nullptr if there is none.
  std::shared_ptr<Index> find_and_pin(std::string_view name) const;
  // Deletes the index. Returns SUCCESS, DB_DNE if there is no such index, or FAILURE while a handle
  // or a transaction has the index pinned.
  ErrCode remove(std::string_view name);
  std::vector<std::shared_ptr<Index>> all() const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Index>, std::less<>> indexes_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome::runtime
