#include "checker/naming.h"

#include <algorithm>

namespace keydrome {
namespace {

std::string record_text(const Case& the_case, uint32_t element) {
  const Cell& cell = the_case.numbering.cells[the_case.numbering.element_cells[element]];
  return "the record under key " +
         key_text(the_case.history, static_cast<uint16_t>(cell.index),
                  static_cast<uint64_t>(cell.key)) +
         " of index " + the_case.history.indexes[cell.index].name;
}

const char* coverage_text(Coverage coverage) {
  switch (coverage) {
    case Coverage::kNone:
      return "";
    case Coverage::kMissingKey:
      return ": it asked for it and was told that it is not there";
    case Coverage::kGap:
      return ": its scan passed over that key";
    case Coverage::kBeforeFirst:
      return ": its scan began behind that key";
    case Coverage::kTail:
      return ": its scan ended before that key";
    case Coverage::kRestOfKey:
      return ": its scan left that key without showing it";
  }
  return "";
}

std::string edge_text(const Case& the_case, const CircleEdge& edge, const std::string& from,
                      const std::string& to) {
  if (edge.kind == EdgeKind::kRealTime) {
    return from + " had returned from its commit before " + to + " was begun";
  }
  const std::string record = record_text(the_case, edge.observation.element);
  const std::string how = coverage_text(edge.observation.coverage);
  switch (edge.kind) {
    case EdgeKind::kWriteWrite:
      return to + " deleted " + record + " that " + from + " had inserted";
    case EdgeKind::kWriteRead:
      return to + " saw " + record + " that " + from + " had inserted";
    case EdgeKind::kPredicateRead:
      return to + " no longer saw " + record + " that " + from + " had deleted" + how;
    case EdgeKind::kReadWrite:
      return from + " still saw " + record + " that " + to + " deleted";
    default:
      return from + " did not see " + record + " that " + to + " inserted" + how;
  }
}

// The call by which a transaction inserted or deleted an element.
EventRef write_of(const Case& the_case, uint32_t number, uint32_t element, bool deletion) {
  const Transaction& writer = the_case.transactions.committed[number];
  const std::vector<Bound>& bounds = the_case.numbering.bounds[writer.thread];
  EventRef found{writer.thread, writer.last};
  for_each_call(the_case.history, writer, [&](uint32_t position, const Event& event) {
    if (!succeeded(event)) return;
    const EventCall call = call_of(event);
    const bool matches =
        deletion ? (call == EventCall::kDeletePair && bounds[position].element == element) ||
                       (call == EventCall::kDeleteKey &&
                        bounds[position].cell == the_case.numbering.element_cells[element])
                 : call == EventCall::kInsert && bounds[position].element == element;
    if (matches) found.position = position;
  });
  return found;
}

std::vector<EventRef> causes_of(const Case& the_case, const CircleEdge& edge) {
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  const uint32_t element = edge.observation.element;
  switch (edge.kind) {
    case EdgeKind::kRealTime:
      return {{committed[edge.from].thread, committed[edge.from].last},
              {committed[edge.to].thread, committed[edge.to].first}};
    case EdgeKind::kWriteWrite:
    case EdgeKind::kWriteRead:
      return {edge.observation.event, write_of(the_case, edge.from, element, false)};
    case EdgeKind::kPredicateRead:
      return {edge.observation.event, write_of(the_case, edge.from, element, true)};
    case EdgeKind::kReadWrite:
      return {edge.observation.event, write_of(the_case, edge.to, element, true)};
    case EdgeKind::kPredicateWrite:
      return {edge.observation.event, write_of(the_case, edge.to, element, false)};
  }
  return {};
}

bool only_reads(const Case& the_case, uint32_t number) {
  bool reads = true;
  for_each_call(the_case.history, the_case.transactions.committed[number],
                [&](uint32_t, const Event& event) {
                  const EventCall call = call_of(event);
                  reads &= !(call == EventCall::kInsert || call == EventCall::kDeletePair ||
                             call == EventCall::kDeleteKey) ||
                           !succeeded(event);
                });
  return reads;
}

// Whether anyone but its inserter saw the element in a transaction that returned after `reader`
// did.
bool is_seen_after(const Case& the_case, uint32_t element, uint32_t reader) {
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  for (uint32_t i = reader + 1; i < committed.size(); ++i) {
    if (i == the_case.writers.of[element].inserter) continue;
    bool seen = false;
    for_each_call(the_case.history, committed[i], [&](uint32_t position, const Event& event) {
      seen |= shows_record(event) &&
              the_case.numbering.bounds[committed[i].thread][position].element == element;
    });
    if (seen) return true;
  }
  return false;
}

struct Anomaly {
  const char* name;
  const char* detail;
};

constexpr Anomaly kStaleRead{"stale_read",
                             "The answers fit a serial order only if it contradicts real time"};

class CircleNamer {
 public:
  CircleNamer(const Case& the_case, const Circle& circle) : case_(the_case), circle_(circle) {}

  Anomaly name() const {
    const std::size_t anti = count(EdgeKind::kReadWrite) + count(EdgeKind::kPredicateWrite);
    if (count(EdgeKind::kRealTime) > 0) return with_real_time();
    if (count(EdgeKind::kWriteWrite) == circle_.edges.size()) {
      return {"dirty_write", "Transactions overwrote each other's records in a circle (G0)"};
    }
    if (anti == 0) {
      return {"circular_information_flow",
              "Each of the transactions saw what the other wrote (G1c)"};
    }
    if (anti == 1) return with_one_anti();
    if (count(EdgeKind::kPredicateWrite) > 0) {
      return {
          "phantom",
          "Transactions did not see records that the others inserted where they had looked (G2)"};
    }
    if (has_reader_between_antis()) {
      return {"read_only_anomaly",
              "A transaction that only reads saw a state that no serial order has (G2)"};
    }
    return {"write_skew", "Each transaction deleted what the other had relied on (G2-item)"};
  }

 private:
  std::size_t count(EdgeKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(circle_.edges.begin(), circle_.edges.end(),
                      [&](const CircleEdge& edge) { return edge.kind == kind; }));
  }

  Anomaly with_real_time() const {
    if (circle_.edges.size() != 2 || count(EdgeKind::kPredicateWrite) != 1) return kStaleRead;
    const CircleEdge& missed =
        circle_.edges[0].kind == EdgeKind::kPredicateWrite ? circle_.edges[0] : circle_.edges[1];
    const uint32_t element = missed.observation.element;
    if (case_.writers.of[element].deleter != kNoNumber) return kStaleRead;
    if (is_seen_after(case_, element, missed.from)) return kStaleRead;
    if ((case_.writers.notes[element] & kDeletedByFailed) != 0) {
      return {"aborted_read",
              "A record is gone that only a transaction deleted which did not commit (G1a)"};
    }
    return {"missing_record", "A committed record was not found, and nobody ever deleted it"};
  }

  Anomaly with_one_anti() const {
    if (circle_.edges.size() == 2) {
      const bool first = is_anti(circle_.edges[0].kind);
      const CircleEdge& anti = circle_.edges[first ? 0 : 1];
      const CircleEdge& flow = circle_.edges[first ? 1 : 0];
      if (flow.kind == EdgeKind::kWriteWrite) {
        return {"lost_update",
                "A transaction replaced a record without having seen the last change"};
      }
      if (changes_its_mind(anti.from, EdgeKind::kReadWrite, EdgeKind::kPredicateRead)) {
        return {"non_repeatable_read", "A record that a transaction had seen vanished within it"};
      }
      if (changes_its_mind(anti.from, EdgeKind::kPredicateWrite, EdgeKind::kWriteRead)) {
        return {"phantom", "A record appeared within a transaction where it had looked before"};
      }
      if (goes_back(anti.from)) {
        return {"torn_commit",
                "A transaction saw one write of another and after that missed a second one"};
      }
    }
    return {"read_skew",
            "A transaction saw one write of another but not an earlier one (G-single)"};
  }

  static bool is_anti(EdgeKind kind) {
    return kind == EdgeKind::kReadWrite || kind == EdgeKind::kPredicateWrite;
  }

  // The reader's answers about one element belong to two states.
  bool changes_its_mind(uint32_t reader, EdgeKind before, EdgeKind after) const {
    for (const Observation& old_state : circle_.observations) {
      if (old_state.from != reader || old_state.kind != before) continue;
      for (const Observation& new_state : circle_.observations) {
        if (new_state.to == reader && new_state.kind == after &&
            new_state.element == old_state.element) {
          return true;
        }
      }
    }
    return false;
  }

  // The reader first saw the writer's new state and later its old one.
  bool goes_back(uint32_t reader) const {
    for (const Observation& new_state : circle_.observations) {
      if (new_state.to != reader) continue;
      for (const Observation& old_state : circle_.observations) {
        if (old_state.from == reader && is_anti(old_state.kind) &&
            new_state.event.position < old_state.event.position) {
          return true;
        }
      }
    }
    return false;
  }

  bool has_reader_between_antis() const {
    for (std::size_t i = 0; i < circle_.edges.size(); ++i) {
      const CircleEdge& before =
          circle_.edges[(i + circle_.edges.size() - 1) % circle_.edges.size()];
      const CircleEdge& after = circle_.edges[i];
      if ((is_anti(before.kind) || is_anti(after.kind)) && only_reads(case_, after.from)) {
        return true;
      }
    }
    return false;
  }

  const Case& case_;
  const Circle& circle_;
};

}  // namespace

std::string place_text(EventRef event) {
  return "thread " + std::to_string(event.thread) + ", event " + std::to_string(event.position);
}

Violation name_circle(const Case& the_case, const Circle& circle) {
  const Anomaly anomaly = CircleNamer(the_case, circle).name();
  Violation violation;
  violation.name = anomaly.name;
  violation.detail = anomaly.detail;
  const auto size = static_cast<uint32_t>(circle.edges.size());
  for (uint32_t i = 0; i < size; ++i) {
    const CircleEdge& edge = circle.edges[i];
    const uint32_t next = (i + 1) % size;
    violation.transactions.push_back(span_of(the_case.transactions.committed[edge.from]));
    ViolationEdge said{i, next, edge.kind, Coverage::kNone, "", causes_of(the_case, edge)};
    if (edge.kind != EdgeKind::kRealTime) said.coverage = edge.observation.coverage;
    said.because =
        edge_text(the_case, edge, "T" + std::to_string(i + 1), "T" + std::to_string(next + 1));
    violation.events.insert(violation.events.end(), said.causes.begin(), said.causes.end());
    violation.edges.push_back(std::move(said));
  }
  return violation;
}

void name_stale_read(Violation& violation) {
  violation.name = kStaleRead.name;
  violation.detail = kStaleRead.detail;
}

Violation name_finding(const Case& the_case, const DirectFinding& finding) {
  Violation violation;
  violation.name = finding.name;
  violation.detail = finding.text;
  if (finding.element != kNoNumber) {
    violation.detail += ": " + record_text(the_case, finding.element);
  }
  violation.transactions.push_back(span_of(*finding.reader));
  violation.events.push_back(finding.event);
  if (finding.other != kNoNumber) {
    violation.transactions.push_back(span_of(the_case.transactions.committed[finding.other]));
    violation.events.push_back(write_of(the_case, finding.other, finding.element, false));
  }
  return violation;
}

Violation name_double_delete(const Case& the_case, const DoubleDelete& twice) {
  const std::vector<Transaction>& committed = the_case.transactions.committed;
  Violation violation;
  const bool own = twice.first == twice.second;
  violation.name = own ? "internal" : "lost_update";
  violation.detail = (own ? "A transaction deleted one record twice: "
                          : "Two committed transactions deleted the same record: ") +
                     record_text(the_case, twice.element);
  violation.transactions.push_back(span_of(committed[twice.first]));
  if (!own) violation.transactions.push_back(span_of(committed[twice.second]));
  violation.events = {write_of(the_case, twice.first, twice.element, true), twice.event};
  return violation;
}

Violation name_wrong_answer(const WrongAnswer& wrong) {
  Violation violation;
  violation.name = wrong.name;
  violation.severity = wrong.severity;
  violation.detail =
      wrong.name == "commit_after_deadlock" ? "commitTransaction answered SUCCESS after DEADLOCK"
      : wrong.name == "answer_after_deadlock"
          ? "A call of a transaction that had been answered DEADLOCK was carried out"
      : wrong.name == "unexpected_failure" ? "A call answered FAILURE"
                                           : "A call gave an answer that is not documented for it";
  violation.events.push_back(wrong.event);
  return violation;
}

Violation name_unknown_key(const UnknownKey& unknown) {
  Violation violation;
  violation.name = "corrupt_key";
  const EventRef event{unknown.thread, unknown.position};
  violation.detail = "getNext showed a key that nobody ever passed";
  violation.events.push_back(event);
  return violation;
}

}  // namespace keydrome
