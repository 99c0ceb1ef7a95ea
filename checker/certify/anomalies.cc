// Implements anomalies.h: describes violations for people. An edge of a cycle says that one
// transaction must precede another, and the kind of the edge says why (EdgeKind). The kinds of all
// edges of a cycle decide the name of the anomaly. Texts about cycles contain the symbol that Adya
// 1999 gives to the anomaly, such as G1c. An *edge of real time* (kRealTime) says that the first
// transaction had returned before the second one began.
//
// A *read-write edge* (kReadWrite or kPredicateWrite) leads from a transaction that saw an old
// state of a record to the transaction that changed this state. The code calls such an edge "anti",
// short for anti-dependency.
#include "checker/certify/anomalies.h"

#include <algorithm>
#include <set>

#include "checker/certify/edges/edge_text.h"
#include "checker/names.h"

namespace keydrome::certify {

using history::Bound;
using history::CallViolation;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::kNoNumber;
using history::Transaction;
using history::TransactionSpan;
using history::UnknownKey;

namespace {

// Returns the last call before the position `end` by which a transaction inserted or deleted a
// record. If there is no such call, returns the last call of the transaction.
EventRef write_of(const Context& context, uint32_t number, uint32_t element, bool deletion,
                  uint32_t end = kNoNumber) {
  const Transaction& writer = context.transactions.committed[number];
  const std::vector<Bound>& bounds = context.numbering.bounds[writer.thread];
  EventRef found{writer.thread, writer.last};
  for_each_call(context.history, writer, [&](uint32_t position, const Event& event) {
    if (!succeeded(event) || position >= end) return;
    const EventCall call = call_of(event);
    const bool matches =
        deletion ? (call == EventCall::kDeletePair && bounds[position].element == element) ||
                       (call == EventCall::kDeleteKey &&
                        bounds[position].cell == context.numbering.element_cells[element])
                 : call == EventCall::kInsert && bounds[position].element == element;
    if (matches) found.position = position;
  });
  return found;
}

std::vector<EventRef> causes_of(const Context& context, const CycleEdge& edge) {
  const std::vector<Transaction>& committed = context.transactions.committed;
  const uint32_t element = edge.observation.element;
  switch (edge.kind) {
    case EdgeKind::kRealTime:
      return {{committed[edge.from].thread, committed[edge.from].last},
              {committed[edge.to].thread, committed[edge.to].first}};
    case EdgeKind::kWriteWrite:
    case EdgeKind::kWriteRead:
      return {edge.observation.event, write_of(context, edge.from, element, false)};
    case EdgeKind::kPredicateRead:
      return {edge.observation.event, write_of(context, edge.from, element, true)};
    case EdgeKind::kReadWrite:
      return {edge.observation.event, write_of(context, edge.to, element, true)};
    case EdgeKind::kPredicateWrite:
      return {edge.observation.event, write_of(context, edge.to, element, false)};
  }
  return {};
}

bool only_reads(const Context& context, uint32_t number) {
  bool reads = true;
  for_each_call(context.history, context.transactions.committed[number],
                [&](uint32_t, const Event& event) {
                  const EventCall call = call_of(event);
                  reads &= !(call == EventCall::kInsert || call == EventCall::kDeletePair ||
                             call == EventCall::kDeleteKey) ||
                           !succeeded(event);
                });
  return reads;
}

// Returns true if a transaction whose commit returned after that of `reader` saw the record
// `element`. The transaction that inserted the record does not count.
bool is_seen_after(const Context& context, uint32_t element, uint32_t reader) {
  const std::vector<Transaction>& committed = context.transactions.committed;
  for (uint32_t i = reader + 1; i < committed.size(); ++i) {
    if (i == context.versions.of[element].inserter) continue;
    bool seen = false;
    for_each_call(context.history, committed[i], [&](uint32_t position, const Event& event) {
      seen |= shows_record(event) &&
              context.numbering.bounds[committed[i].thread][position].element == element;
    });
    if (seen) return true;
  }
  return false;
}

// Notes whether a transaction whose commit returned after that of `reader` did not find the record
// `element`.
class MissedLater : public DependencySink {
 public:
  MissedLater(uint32_t element, uint32_t reader) : element_(element), reader_(reader) {}

  void add_edge(const Observation& seen) override {
    missed |=
        seen.kind == EdgeKind::kPredicateWrite && seen.element == element_ && seen.from > reader_;
  }
  void add_choice(const Choice& /*choice*/) override {}
  void add_finding(const DirectFinding& /*finding*/) override {}

  bool missed = false;

 private:
  const uint32_t element_;
  const uint32_t reader_;
};

// Returns true if a transaction whose commit returned after that of `reader` did not find the
// record `element`, although its lookup or scan would have returned an existing record.
// find_dependencies() would not examine this record for a transaction that began after the record
// was certainly deleted. So the search uses a copy of context.versions, which contains the inserter
// and the deleter of each record. In the copy this record has no deleter.
bool is_missed_after(const Context& context, uint32_t element, uint32_t reader) {
  Versions versions = context.versions;
  versions.of[element].deleter = kNoNumber;
  versions.notes[element] &= static_cast<uint8_t>(~kOpenDeleter);
  const Context undeleted{context.history, context.numbering, context.transactions, versions,
                          context.options};
  MissedLater sink(element, reader);
  find_dependencies(undeleted, /*lean=*/false, sink);
  return sink.missed;
}

struct Anomaly {
  const char* name;  // one of kViolationNames
  const char* detail;
};

constexpr Anomaly kStaleRead{"stale_read",
                             "The results contradict real time, because a transaction that began "
                             "later must come before one that had already ended"};

// Finds the name of the anomaly that a cycle shows.
class CycleClassifier {
 public:
  CycleClassifier(const Context& context, const Cycle& cycle) : context_(context), cycle_(cycle) {}

  Anomaly name() const {
    const std::size_t anti = count(EdgeKind::kReadWrite) + count(EdgeKind::kPredicateWrite);
    if (count(EdgeKind::kRealTime) > 0) return with_real_time();
    if (count(EdgeKind::kWriteWrite) == cycle_.edges.size()) {
      return {"dirty_write",
              "Transactions overwrote each other's records in a cycle, which no serial order "
              "allows (G0)"};
    }
    if (anti == 0) {
      return {"circular_information_flow",
              "Each of the transactions saw what the previous one wrote, in a cycle, which no "
              "serial order allows (G1c)"};
    }
    if (anti == 1) return with_one_anti();
    if (count(EdgeKind::kPredicateWrite) > 0) {
      return {
          "phantom",
          "Transactions looked for records but missed records that other transactions inserted at "
          "the same time, so no serial order gives their results (G2)"};
    }
    if (has_reader_between_antis()) {
      return {"read_only_anomaly",
              "A transaction that only reads saw a state that no serial order produces (G2)"};
    }
    return {"write_skew",
            "Transactions deleted records that others had read, in a cycle, which no serial order "
            "allows (G2-item)"};
  }

 private:
  std::size_t count(EdgeKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(cycle_.edges.begin(), cycle_.edges.end(),
                      [&](const CycleEdge& edge) { return edge.kind == kind; }));
  }

  // Names a cycle that has an edge of real time. Such a cycle is a stale read, except if it shows
  // lost data: a delete without effect, or a committed record that no later transaction sees
  // although no transaction deleted it.
  Anomaly with_real_time() const {
    if (cycle_.edges.size() != 2) return kStaleRead;
    if (count(EdgeKind::kReadWrite) == 1) return with_undone_delete();
    if (count(EdgeKind::kPredicateWrite) != 1) return kStaleRead;
    const CycleEdge& missed =
        cycle_.edges[0].kind == EdgeKind::kPredicateWrite ? cycle_.edges[0] : cycle_.edges[1];
    const uint32_t element = missed.observation.element;
    if (context_.versions.of[element].deleter != kNoNumber) return kStaleRead;
    if (is_seen_after(context_, element, missed.from)) return kStaleRead;
    if ((context_.versions.notes[element] & kDeletedByFailed) != 0) {
      return {"aborted_read",
              "A record was not found, although only a transaction that never committed deleted "
              "it, and such a delete must have no effect (G1a)"};
    }
    return {"missing_record",
            "A committed record was not found, although no transaction deleted it"};
  }

  // Names a cycle in which a transaction saw a record after the record's deleter had returned.
  Anomaly with_undone_delete() const {
    const CycleEdge& saw =
        cycle_.edges[0].kind == EdgeKind::kReadWrite ? cycle_.edges[0] : cycle_.edges[1];
    if (is_missed_after(context_, saw.observation.element, saw.from)) return kStaleRead;
    return {"deleted_record",
            "A record was found after a transaction that deleted it had committed, and no later "
            "transaction saw this delete, so the delete had no effect"};
  }

  Anomaly with_one_anti() const {
    if (cycle_.edges.size() == 2) {
      const bool first = is_anti(cycle_.edges[0].kind);
      const CycleEdge& anti = cycle_.edges[first ? 0 : 1];
      const CycleEdge& flow = cycle_.edges[first ? 1 : 0];
      if (flow.kind == EdgeKind::kWriteWrite) {
        return {
            "lost_update",
            "A transaction replaced a record without having seen the last change of the record, so "
            "this change is lost"};
      }
      if (sees_two_states(anti.from, EdgeKind::kReadWrite, EdgeKind::kPredicateRead)) {
        return {"non_repeatable_read",
                "A transaction saw a record that another transaction deleted, but another lookup "
                "or scan of the same transaction did not find it"};
      }
      if (sees_two_states(anti.from, EdgeKind::kPredicateWrite, EdgeKind::kWriteRead)) {
        return {"phantom",
                "A transaction saw a record that another transaction inserted, but another lookup "
                "or scan of the same transaction did not find it"};
      }
      if (returns_to_old_state(anti.from)) {
        return {"torn_commit",
                "A transaction saw one write of another transaction, and then missed a second "
                "write of that transaction, but must see both writes or none"};
      }
    }
    return {"read_skew",
            "A transaction saw one write but missed an earlier write, which no serial order allows "
            "(G-single)"};
  }

  // Returns true if the reader saw one record in two states: once before and once after the change
  // of another transaction. `before` and `after` are the kinds of edges that show the two states.
  bool sees_two_states(uint32_t reader, EdgeKind before, EdgeKind after) const {
    for (const Observation& old_state : cycle_.observations) {
      if (old_state.from != reader || old_state.kind != before) continue;
      for (const Observation& new_state : cycle_.observations) {
        if (new_state.to == reader && new_state.kind == after &&
            new_state.element == old_state.element) {
          return true;
        }
      }
    }
    return false;
  }

  // Returns true if the reader first saw a change of the writer, and later saw a state before the
  // writer's changes.
  bool returns_to_old_state(uint32_t reader) const {
    for (const Observation& new_state : cycle_.observations) {
      if (new_state.to != reader) continue;
      for (const Observation& old_state : cycle_.observations) {
        if (old_state.from == reader && is_anti(old_state.kind) &&
            new_state.event.position < old_state.event.position) {
          return true;
        }
      }
    }
    return false;
  }

  bool has_reader_between_antis() const {
    for (std::size_t i = 0; i < cycle_.edges.size(); ++i) {
      const CycleEdge& before = cycle_.edges[(i + cycle_.edges.size() - 1) % cycle_.edges.size()];
      const CycleEdge& after = cycle_.edges[i];
      if ((is_anti(before.kind) || is_anti(after.kind)) && only_reads(context_, after.from)) {
        return true;
      }
    }
    return false;
  }

  const Context& context_;
  const Cycle& cycle_;
};

// Returns a recorded call with its arguments, such as get("A", 5). The history has no payloads.
std::string passed_text(const History& history, const Event& event) {
  const EventCall call = call_of(event);
  const bool names_index =
      call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
  std::string text = std::string(call_name(call)) + "(";
  if (names_index && event.index < history.indexes.size()) {
    text += '"' + history.indexes[event.index].name + '"';
  }
  if (is_data_call(call) && call != EventCall::kNext) {
    text += ", " + key_text(history, event.index, event.key);
  }
  return text + ")";
}

// Returns true if both edges of a cycle are about the same record. The text of the second edge then
// need not repeat what the text of the first edge says about it.
bool repeats_record(const Cycle& cycle) {
  if (cycle.edges.size() != 2) return false;
  const auto is_real_time = [](const CycleEdge& edge) { return edge.kind == EdgeKind::kRealTime; };
  return std::ranges::none_of(cycle.edges, is_real_time) &&
         is_anti(cycle.edges[0].kind) != is_anti(cycle.edges[1].kind) &&
         cycle.edges[0].observation.element == cycle.edges[1].observation.element;
}

bool is_about_one_key(const Context& context, const Cycle& cycle) {
  const std::vector<uint32_t>& cells = context.numbering.element_cells;
  return std::ranges::all_of(cycle.edges, [&](const CycleEdge& edge) {
    return cells[edge.observation.element] == cells[cycle.edges[0].observation.element];
  });
}

// Returns the edges of a cycle as text for Violation::detail. The text names the threads if each
// transaction of the cycle has a thread of its own. The witness shows a smaller history, in which
// the transactions may have other numbers.
std::string steps_text(const Context& context, const Cycle& cycle, const Violation& violation) {
  constexpr std::size_t kBytesMax = 500;  // a summary, with other text, has at most 1,000 bytes
  std::set<uint32_t> threads;
  for (const TransactionSpan& span : violation.transactions) threads.insert(span.thread);
  const bool by_thread = threads.size() == violation.transactions.size();
  const auto name = [&](uint32_t number) {
    return by_thread ? "thread " + std::to_string(violation.transactions[number].thread)
                     : "T" + std::to_string(number + 1);
  };
  std::string text;
  for (std::size_t i = 0; i < cycle.edges.size(); ++i) {
    const ViolationEdge& edge = violation.edges[i];
    std::string step =
        edge_text(context, cycle.edges[i], name(edge.from), name(edge.to),
                  i == 1 && repeats_record(cycle) ? Before::kRecord : Before::kNothing);
    // A thread has many transactions, and none of them is named.
    if (by_thread && edge.kind == EdgeKind::kRealTime) {
      step = "the transaction of " + name(edge.from) + " had ended before that of " +
             name(edge.to) + " began";
    }
    if (text.size() + step.size() > kBytesMax) return text;
    text += (text.empty() ? ": " : "; ") + step;
  }
  return text;
}

// Returns true if the text of the finding's call (result_text()) names the key of the finding's
// record.
bool names_key_of(const Context& context, const DirectFinding& finding) {
  const Event& event = context.history.threads[finding.event.thread][finding.event.position];
  const history::Cell& cell =
      context.numbering.cells[context.numbering.element_cells[finding.element]];
  return is_data_call(call_of(event)) && (call_of(event) != EventCall::kNext || succeeded(event)) &&
         cell.index == event.index &&
         key_text(context.history, event.index, event.key) ==
             key_text(context.history, event.index, static_cast<uint64_t>(cell.key));
}

}  // namespace

std::string result_text(const History& history, EventRef at) {
  const Event& event = history.threads[at.thread][at.position];
  std::string text = passed_text(history, event) + " returned " + code_text(event);
  if (call_of(event) == EventCall::kNext && succeeded(event)) {
    text += " and " + named_key(history, event.index, event.key);
  }
  return text;
}

std::string place_text(EventRef event) {
  return "thread " + std::to_string(event.thread) + ", event " + std::to_string(event.position);
}

Violation describe_cycle(const Context& context, const Cycle& found) {
  const Anomaly anomaly = CycleClassifier(context, found).name();
  const Cycle cycle = about_one_record(context, found, anomaly.name);
  Violation violation;
  violation.name = anomaly.name;
  violation.detail = anomaly.detail;
  if (violation.name == "lost_update" && !is_about_one_key(context, cycle)) {
    violation.detail =
        "A transaction deleted a record that another transaction had inserted, but did not see "
        "another change of that transaction";
  }
  const auto size = static_cast<uint32_t>(cycle.edges.size());
  for (uint32_t i = 0; i < size; ++i) {
    const CycleEdge& edge = cycle.edges[i];
    const uint32_t next = (i + 1) % size;
    violation.transactions.push_back(span_of(context.transactions.committed[edge.from]));
    ViolationEdge described{i, next, edge.kind, Coverage::kNone, "", causes_of(context, edge)};
    if (edge.kind != EdgeKind::kRealTime) described.coverage = edge.observation.coverage;
    described.because =
        edge_text(context, edge, "T" + std::to_string(i + 1), "T" + std::to_string(next + 1),
                  i == 1 && repeats_record(cycle) ? Before::kOtherCall : Before::kNothing);
    violation.events.insert(violation.events.end(), described.causes.begin(),
                            described.causes.end());
    violation.edges.push_back(std::move(described));
  }
  violation.steps = steps_text(context, cycle, violation);
  violation.detail += violation.steps;
  return violation;
}

void rename_as_stale_read(Violation& violation) {
  violation.name = kStaleRead.name;
  violation.detail = kStaleRead.detail + violation.steps;
}

Violation describe_finding(const Context& context, const DirectFinding& finding) {
  Violation violation;
  violation.name = finding.name;
  violation.severity = finding.severity;
  violation.detail = std::string(finding.text) + ": " + result_text(context.history, finding.event);
  if (finding.passed_cell != kNoNumber) {
    const history::Cell& passed = context.numbering.cells[finding.passed_cell];
    violation.detail += " after the scan had reached " +
                        named_key(context.history, static_cast<uint16_t>(passed.index),
                                  static_cast<uint64_t>(passed.key));
  } else if (finding.element != kNoNumber && !names_key_of(context, finding)) {
    violation.detail += "; this concerns " + record_text(context, finding.element);
  }
  violation.transactions.push_back(span_of(*finding.reader));
  violation.events.push_back(finding.event);
  if (finding.other != kNoNumber) {
    violation.transactions.push_back(span_of(context.transactions.committed[finding.other]));
    const bool deletion = finding.blind_deleter != kNoNumber;
    violation.events.push_back(write_of(context, finding.other, finding.element, deletion));
  }
  return violation;
}

Violation describe_double_delete(const Context& context, const DoubleDelete& twice) {
  const std::vector<Transaction>& committed = context.transactions.committed;
  Violation violation;
  const bool own = twice.first == twice.second;
  violation.name = own ? "internal" : "lost_update";
  violation.detail = (own ? "A transaction deleted one record twice: "
                          : "Two committed transactions deleted the same record: ") +
                     record_text(context, twice.element) + "; " +
                     result_text(context.history, twice.event);
  violation.transactions.push_back(span_of(committed[twice.first]));
  if (!own) violation.transactions.push_back(span_of(committed[twice.second]));
  const uint32_t end = own ? twice.event.position : kNoNumber;
  violation.events = {write_of(context, twice.first, twice.element, true, end), twice.event};
  return violation;
}

Violation describe_call_violation(const History& history, const CallViolation& found) {
  Violation violation;
  violation.name = found.name;
  violation.severity = found.severity;
  violation.detail =
      found.name == "commit_after_deadlock"
          ? "A transaction committed although one of its calls had returned DEADLOCK"
      : found.name == "answer_after_deadlock" ? "A call was carried out although an earlier call "
                                                "of its transaction had returned DEADLOCK"
      : found.name == "illegal_answer"
          ? "A call reported that its transaction or its index does not exist, although the "
            "transaction and the handle were open"
      : found.name == "unexpected_failure"
          ? "A call returned FAILURE although it was legal"
          : "A call returned a result code that the contract does not allow for it";
  violation.detail += ": " + result_text(history, found.event);
  violation.events.push_back(found.event);
  return violation;
}

Violation describe_unknown_key(const History& history, const UnknownKey& unknown) {
  Violation violation;
  violation.name = "corrupt_key";
  const EventRef event{unknown.thread, unknown.position};
  violation.detail = passed_text(history, history.threads[event.thread][event.position]) +
                     " returned a key that no call ever passed to the library";
  violation.events.push_back(event);
  return violation;
}

}  // namespace keydrome::certify
