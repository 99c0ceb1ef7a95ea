// Defines the tables of the social graph of the benchmark "linkbench", their rows, and the
// procedures. A procedure is a transaction whose later calls depend on the results of earlier
// calls.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/digits.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::linkbench {

// A table's number is also the number of its index and of its slot. The slot is the variable in
// which the player, the process that makes the calls, keeps the open handle of the index.
enum Table : uint8_t { kNodes, kLinks, kLinksById2, kCounts, kTables };

// The row of a link is the same in `links` and in `links_by_id2`: the number of its `links` key in
// the script's list of keys (pool), then its data. Deleting a link hides it. A hidden link has no
// row in `links`. Its row in `links_by_id2` has the number kHidden, which no link has.
inline constexpr format::Field kLinkKey{.at = 0, .width = 5};
inline constexpr int64_t kHidden = 0;
inline constexpr uint32_t kLinkRowBytes = kLinkKey.width + 8;
// The row of a list in `counts`: the number of its links that are not hidden.
inline constexpr format::Field kCount{.at = 0, .width = 5};

// The procedures with their parameters and results.
enum Procedure : uint32_t {
  // Parameters: list, pair (the key of the link in links_by_id2), new key of the link in links,
  // text. Adds a link, or gives it a new time. The result is 1 if the link was missing or hidden.
  kShowLink,
  // Parameters: list, pair (as above). Hides a link. The result is 1 if the link existed and was
  // visible.
  kHideLink,
  // Parameters: id, text. Replaces a node, if it exists.
  kReplaceNode,
  // The following three procedures differ only in the number of calls that they may make. The log
  // of a recorded run, which contains every call, reserves room for this number.
  // Parameters: from, end (keys). Reads at most kListMax links of a list. The result is the number
  // of links read.
  kShortList,
  kMediumList,
  kLongList,
  kProcedures
};
constexpr bool is_list(uint32_t procedure) { return procedure >= kShortList; }

// Returns the procedure for a list that was loaded with `links` links.
Procedure list_procedure(uint32_t links);

// Adds all procedures, numbered as in Procedure.
void add_procedures(script::ScriptBuilder& builder);

}  // namespace keydrome::linkbench
