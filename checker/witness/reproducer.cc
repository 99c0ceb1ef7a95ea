// Implements reproducer.h: turns a minimal history into the input of c_program(). A minimal history
// contains the few recorded calls that prove a violation (minimise.h). c_program() writes a C
// program that repeats the calls. This file numbers the threads and indexes, names the records, and
// writes the program's opening comment.
#include "checker/witness/reproducer.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "checker/history/calls.h"
#include "checker/history/transactions.h"

namespace keydrome::witness {

using certify::ViolationEdge;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::kEventLongDuration;
using history::TransactionSpan;
using history::TransactionState;

namespace {

constexpr std::size_t kInitialRecordsMax = 200;
constexpr std::size_t kReproducedCallsMax = 200;

// Violations for which no program is written. A corrupt key or payload is one that no call of the
// history passed to the library, so the program would not know which value to expect. The other
// names are about single result codes, but the program checks an order of transactions.
constexpr std::array<std::string_view, 6> kNotReproducible = {
    "commit_after_deadlock", "corrupt_key",       "corrupt_payload",
    "delete_code",           "undocumented_code", "unexpected_failure"};

class ReproducerWriter {
 public:
  ReproducerWriter(const MinimalHistory& small, const Wording& words)
      : small_(small), wording_(words) {}

  std::optional<Reproducer> write() {
    const std::vector<Event>& initial = small_.history.threads.back();
    if (std::ranges::count(kNotReproducible, small_.violation.name) > 0) return std::nullopt;
    if (initial.size() > kInitialRecordsMax || !number_sessions()) return std::nullopt;
    for (const Event& event : initial) out_.initial.push_back(record(event, true));
    for (std::size_t i = 0; i < small_.transactions.size(); ++i) {
      const TransactionSpan& span = small_.transactions[i].span;
      if (span.state == TransactionState::kUnfinished) return std::nullopt;
      for (const EventRef ref : calls_of(small_.history, span)) {
        const Event& event = small_.history.threads[ref.thread][ref.position];
        if (!can_be_reproduced(event)) return std::nullopt;
        out_.calls.push_back(call(event, ref, "T" + std::to_string(i + 1)));
      }
    }
    if (out_.calls.size() > kReproducedCallsMax) return std::nullopt;
    out_.name = small_.violation.name;
    out_.violation = violation_text();
    out_.about = about();
    return std::move(out_);
  }

 private:
  // Numbers the threads that have calls, and the indexes that these calls use. Also notes when the
  // first call began. Returns false if there is no such thread or no such index.
  bool number_sessions() {
    std::set<uint32_t> indexes;
    for (std::size_t thread = 0; thread < small_.history.threads.size(); ++thread) {
      const std::vector<Event>& events = small_.history.threads[thread];
      const bool is_initial = thread + 1 == small_.history.threads.size();
      if (!is_initial && !events.empty()) {
        sessions_.emplace(static_cast<uint32_t>(thread), static_cast<uint32_t>(sessions_.size()));
      }
      for (const Event& event : events) {
        if (is_data_call(call_of(event))) indexes.insert(event.index);
        if (!is_initial) start_ = std::min(start_, event.end - event.duration);
      }
    }
    for (const uint32_t index : indexes) {
      indexes_.emplace(index, static_cast<uint32_t>(indexes_.size()));
      out_.indexes.push_back(small_.history.indexes[index]);
    }
    out_.sessions = static_cast<uint32_t>(sessions_.size());
    return !sessions_.empty() && !indexes_.empty();
  }

  static bool can_be_reproduced(const Event& event) {
    const EventCall call = call_of(event);
    if (event.duration == kEventLongDuration) return false;
    if (handle_of(event) == history::kEventManyHandles) return false;
    if (!is_data_call(call)) {
      return succeeded(event) &&
             (call == EventCall::kBegin || call == EventCall::kCommit || call == EventCall::kAbort);
    }
    return succeeded(event) || event.code == DB_END || event.code == KEY_NOTFOUND ||
           event.code == ENTRY_EXISTS || event.code == ENTRY_DNE;
  }

  ReproducerRecord record(const Event& event, bool with_payload) const {
    ReproducerRecord record;
    record.index = indexes_.at(event.index);
    if (small_.history.indexes[event.index].type == VARCHAR) {
      const std::vector<std::string>& keys = small_.history.varchar_keys;
      if (event.key < keys.size()) record.text = keys[event.key];
    } else {
      record.number = static_cast<int64_t>(event.key);
    }
    if (with_payload) record.payload = wording_.record(event.payload);
    return record;
  }

  ReproducerCall call(const Event& event, EventRef ref, const std::string& name) const {
    const EventCall kind = call_of(event);
    const bool passes = kind == EventCall::kInsert || kind == EventCall::kDeletePair;
    ReproducerCall call;
    call.session = sessions_.at(ref.thread);
    call.call = kind;
    call.auto_commit = is_auto_commit(event);
    call.code = event.code;
    call.begin_ticks = event.end - event.duration - start_;
    call.end_ticks = event.end - start_;
    call.text = name + " " + wording_.call(event);
    if (!is_data_call(kind)) return call;
    call.index = indexes_.at(event.index);
    call.handle = handle_of(event);
    call.passed = record(event, passes);
    if (succeeded(event)) call.returned = record(event, true);
    return call;
  }

  // Returns sentences that say what is wrong.
  std::string violation_text() const {
    if (small_.violation.edges.empty()) return small_.violation.detail + ".";
    std::string text = "No serial order of the transactions gives these results:";
    for (const ViolationEdge& edge : small_.violation.edges) {
      text += " T" + std::to_string(edge.from + 1) + " must precede T" +
              std::to_string(edge.to + 1) + ": " + edge.because + ".";
    }
    return text;
  }

  std::string about() const {
    const std::string& name = small_.violation.name;
    std::string text =
        name + ": this program repeats the calls of a recorded run that prove a violation.\n\n" +
        violation_text() + "\n\nBuild and run, with this file as " + name +
        ".c and your library as LIBRARY.so:\n  cc -std=c99 -pthread -I api/include " + name +
        ".c ./LIBRARY.so -o " + name + " && ./" + name +
        "\nExit status 1: the violation occurred, because every call returned its recorded "
        "result. No serialisable library can return these results.\nExit status 0: the violation "
        "did not occur.\n\n";
    if (!out_.initial.empty()) text += "Before the recorded calls, the program inserts:\n  ";
    for (std::size_t i = 0; i < out_.initial.size(); ++i) {
      const Event& event = small_.history.threads.back()[i];
      text += (i > 0 ? ", " : "") + out_.initial[i].payload + " under " +
              key_text(small_.history, event.index, event.key) + " of " +
              small_.history.indexes[event.index].name;
    }
    if (!out_.initial.empty()) text += "\n\n";
    text += "The recorded calls, in the order in which they returned:\n";
    return text + lines();
  }

  std::string lines() const {
    std::vector<std::pair<uint64_t, std::string>> lines;
    for (std::size_t i = 0; i < small_.transactions.size(); ++i) {
      for (const EventRef ref : calls_of(small_.history, small_.transactions[i].span)) {
        const Event& event = small_.history.threads[ref.thread][ref.position];
        lines.emplace_back(event.end, "  T" + std::to_string(i + 1) + " " + wording_.call(event) +
                                          " = " + wording_.answer(event) + "\n");
      }
    }
    std::ranges::sort(lines);
    std::string text;
    for (const auto& [end, line] : lines) text += line;
    return text;
  }

  const MinimalHistory& small_;
  const Wording& wording_;
  Reproducer out_;
  // The program's numbers of sessions (its threads) and indexes, by the history's numbers of
  // threads and indexes.
  std::map<uint32_t, uint32_t> sessions_, indexes_;
  uint64_t start_ = UINT64_MAX;
};

}  // namespace

std::optional<Reproducer> reproducer_of(const MinimalHistory& small, const Wording& words) {
  return ReproducerWriter(small, words).write();
}

}  // namespace keydrome::witness
