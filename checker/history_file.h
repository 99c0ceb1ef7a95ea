// Histories as files: docs/reference/history-format.md. A file holds what was recorded, so varchar
// keys are fingerprints in it: write before, and rank after (rank_varchar_keys).
#pragma once

#include <string>

#include "base/result.h"
#include "checker/history.h"

namespace keydrome {

Result<void> write_history(const History& history, const std::string& path);

// Any file may be passed: every size is checked before it is used, and every byte is covered by a
// checksum.
Result<History> read_history(const std::string& path);

}  // namespace keydrome
