// The catalog: finds and adds the indexes of a runtime (the library that adds transactions to a
// data structure) by name. The catalog owns the indexes, and keeps them until it is destroyed.
//
// Thread safety: any thread may call any function.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/thread_annotations.h"
#include "keydrome/index.h"
#include "runtime/index.h"

namespace keydrome::runtime {

class Catalog {
 public:
  bool has(std::string_view name) const;
  // Returns SUCCESS or DB_EXISTS.
  ErrCode add(std::unique_ptr<Index> index);
  // Returns nullptr if there is no such index.
  Index* find(std::string_view name) const;

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::unique_ptr<Index>, std::less<>> indexes_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome::runtime
