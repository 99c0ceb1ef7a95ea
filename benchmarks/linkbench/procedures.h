// The tables of the graph, their rows, and the transactions that depend on what they read.
#pragma once

#include <cstdint>

#include "benchmarks/kit/digits.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome::linkbench {

// Also the number of the index and of the slot that has it open.
enum Table : uint8_t { kNodes, kLinks, kLinksById2, kCounts, kTables };

// A link has the same row in `links` and in `links_by_id2`: the number of its key in the former, in
// the pool of strings, and its data. One that was deleted is hidden: it stays in `links_by_id2`
// with kNoPlace, which is no link's number.
inline constexpr Field kPlace{.at = 0, .width = 5};
inline constexpr int64_t kNoPlace = 0;
inline constexpr uint32_t kLinkRowBytes = kPlace.width + 8;
// The row of a list: how many links of it are not hidden.
inline constexpr Field kCount{.at = 0, .width = 5};

enum Procedure : uint32_t {
  kShowLink,     // list, pair, new place, text: adds a link, or gives it a new time; 1 if it is one
                 // more
  kHideLink,     // list, pair: 1 if there is one less
  kReplaceNode,  // id, text: if it is there
  // from, end: how many links are there, at most kListMax. Three, which differ in the room for
  // their calls in the log of a recorded run.
  kShortList,
  kMediumList,
  kLongList,
  kProcedures
};
constexpr bool is_list(uint32_t procedure) { return procedure >= kShortList; }

// The one for a list that was loaded with so many links.
Procedure list_procedure(uint32_t links);

// Adds all; their numbers are those of Procedure.
void add_procedures(ScriptBuilder& script);

}  // namespace keydrome::linkbench
