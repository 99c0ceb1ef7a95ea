// Implements edge_text.h: says which record an edge is about, what each of the two transactions did
// with the record, and which call shows that a record did not exist.
#include "checker/certify/edges/edge_text.h"

#include "checker/names.h"

namespace keydrome::certify {

using history::Cell;
using history::Event;
using history::EventCall;

namespace {

// Returns text such as "get of T1 returned KEY_NOTFOUND", for a call that found no record.
std::string missing_text(const Event& event, const std::string& reader) {
  const EventCall call = call_of(event);
  const std::string of_reader = std::string(call_name(call)) + " of " + reader;
  if (call == EventCall::kDeleteKey && succeeded(event)) {
    return of_reader + " deleted all payloads of the key, but not that record";
  }
  const bool inserts = call == EventCall::kInsert && succeeded(event);
  return of_reader + " returned " + code_text(event) + (inserts ? ", not ENTRY_EXISTS" : "");
}

// Returns text such as "the scan of T1 on handle 2". A scan on the thread's first handle of the
// index is only "the scan of T1".
std::string scan_text(const Event& event, const std::string& reader) {
  std::string text = "the scan of " + reader;
  const uint32_t handle = handle_of(event);
  if (handle == 0) return text;
  return text + " on handle " + std::to_string(handle + 1) +
         (handle == history::kEventManyHandles ? " or higher" : "");
}

// Returns the call which shows that `reader` did not see the record of the observation, in
// parentheses and after a space. Returns an empty text if the observation has no such call.
std::string coverage_text(const Context& context, const Observation& seen,
                          const std::string& reader) {
  if (seen.coverage == Coverage::kNone) return "";
  const Event& event = context.history.threads[seen.event.thread][seen.event.position];
  if (seen.coverage == Coverage::kMissingKey) return " (" + missing_text(event, reader) + ")";
  const std::string scan = scan_text(event, reader);
  switch (seen.coverage) {
    case Coverage::kGap:
      return " (" + scan + " covered that key, but did not return the record)";
    case Coverage::kBeforeFirst:
      return " (the first record of " + scan + " has a larger key)";
    case Coverage::kTail:
      return " (" + scan + " returned DB_END without that key)";
    case Coverage::kRestOfKey:
      return " (" + scan + " moved to the next key without returning that record)";
    default:
      return "";
  }
}

}  // namespace

std::string record_text(const Context& context, uint32_t element) {
  const Cell& cell = context.numbering.cells[context.numbering.element_cells[element]];
  return "the record under " +
         named_key(context.history, static_cast<uint16_t>(cell.index),
                   static_cast<uint64_t>(cell.key)) +
         " of index " + context.history.indexes[cell.index].name;
}

std::string edge_text(const Context& context, const CycleEdge& edge, const std::string& from,
                      const std::string& to, Before before) {
  if (edge.kind == EdgeKind::kRealTime) return from + " had ended before " + to + " began";
  const std::string record = record_text(context, edge.observation.element);
  // Returns the record, and what the other transaction did with it.
  const auto changed = [&](const std::string& change) {
    return before == Before::kRecord ? std::string("this record") : record + " that " + change;
  };
  // Returns the subject of "saw". If the text before says that the same transaction did not see the
  // record, the subject is another call.
  const auto viewer = [&](const std::string& reader) {
    return before == Before::kNothing ? reader : "another call of " + reader;
  };
  switch (edge.kind) {
    case EdgeKind::kWriteWrite:
      return to + " deleted " + changed(from + " had inserted");
    case EdgeKind::kWriteRead:
      return viewer(to) + " saw " + changed(from + " had inserted");
    case EdgeKind::kPredicateRead:
      return to + " did not see " + changed(from + " had deleted") +
             coverage_text(context, edge.observation, to);
    case EdgeKind::kReadWrite:
      return viewer(from) + " saw " + changed(to + " deleted");
    default:
      return from + " did not see " + changed(to + " inserted") +
             coverage_text(context, edge.observation, from);
  }
}

}  // namespace keydrome::certify
