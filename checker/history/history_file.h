// Reads and writes history files, which contain the recorded calls of a run.
// docs/reference/history-format.md describes the format.
//
// A file contains hashes of varchar keys. In memory, rank_varchar_keys() replaces each hash by the
// key's rank, its position among the sorted keys (history.h). So callers must call write_history()
// before rank_varchar_keys(), and must call rank_varchar_keys() after read_history().
#pragma once

#include <string>

#include "base/result.h"
#include "checker/history/history.h"

namespace keydrome::history {

Result<void> write_history(const History& history, const std::string& path);

// Safe for any file: checks every size before use, and verifies the checksums, which cover every
// byte.
Result<History> read_history(const std::string& path);

}  // namespace keydrome::history
