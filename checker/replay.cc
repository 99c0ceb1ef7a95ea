#include "checker/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "checker/calls.h"
#include "checker/transactions.h"

namespace keydrome {
namespace {

constexpr std::size_t kRecordsMax = 200;
constexpr std::size_t kCallsMax = 200;

// A program cannot make a library answer so.
constexpr std::array<std::string_view, 5> kNotAskedFor = {"commit_after_deadlock", "corrupt_key",
                                                          "corrupt_payload", "undocumented_code",
                                                          "unexpected_failure"};

class Replay {
 public:
  Replay(const MinimalHistory& small, const Words& words) : small_(small), words_(words) {}

  std::optional<Play> write() {
    const std::vector<Event>& before = small_.history.threads.back();
    if (std::ranges::count(kNotAskedFor, small_.violation.name) > 0) return std::nullopt;
    if (before.size() > kRecordsMax || !number_sessions()) return std::nullopt;
    for (const Event& event : before) play_.before.push_back(record(event, true));
    for (std::size_t i = 0; i < small_.transactions.size(); ++i) {
      const TransactionSpan& span = small_.transactions[i].span;
      if (span.state == TransactionState::kUnfinished) return std::nullopt;
      for (const EventRef ref : calls_of(small_.history, span)) {
        const Event& event = small_.history.threads[ref.thread][ref.position];
        if (!can_be_asked_for(event)) return std::nullopt;
        play_.calls.push_back(call(event, ref, "T" + std::to_string(i + 1)));
      }
    }
    if (play_.calls.size() > kCallsMax) return std::nullopt;
    play_.name = small_.violation.name;
    play_.fault = fault();
    play_.about = about();
    return std::move(play_);
  }

 private:
  // Threads and indexes that occur, and when the first call was made.
  bool number_sessions() {
    std::set<uint32_t> indexes;
    for (std::size_t thread = 0; thread < small_.history.threads.size(); ++thread) {
      const std::vector<Event>& events = small_.history.threads[thread];
      const bool is_before = thread + 1 == small_.history.threads.size();
      if (!is_before && !events.empty()) {
        sessions_.emplace(static_cast<uint32_t>(thread), static_cast<uint32_t>(sessions_.size()));
      }
      for (const Event& event : events) {
        if (is_data_call(call_of(event))) indexes.insert(event.index);
        if (!is_before) start_ = std::min(start_, event.end - event.duration);
      }
    }
    for (const uint32_t index : indexes) {
      indexes_.emplace(index, static_cast<uint32_t>(indexes_.size()));
      play_.indexes.push_back(small_.history.indexes[index]);
    }
    play_.sessions = static_cast<uint32_t>(sessions_.size());
    return !sessions_.empty() && !indexes_.empty();
  }

  static bool can_be_asked_for(const Event& event) {
    const EventCall call = call_of(event);
    if (event.duration == kEventLongDuration) return false;
    if (!is_data_call(call)) {
      return succeeded(event) &&
             (call == EventCall::kBegin || call == EventCall::kCommit || call == EventCall::kAbort);
    }
    return succeeded(event) || event.code == DB_END || event.code == KEY_NOTFOUND ||
           event.code == ENTRY_EXISTS || event.code == ENTRY_DNE;
  }

  PlayedRecord record(const Event& event, bool with_payload) const {
    PlayedRecord record;
    record.index = indexes_.at(event.index);
    if (small_.history.indexes[event.index].type == VARCHAR) {
      const std::vector<std::string>& keys = small_.history.varchar_keys;
      if (event.key < keys.size()) record.text = keys[event.key];
    } else {
      record.number = static_cast<int64_t>(event.key);
    }
    if (with_payload) record.payload = words_.record(event.payload);
    return record;
  }

  PlayedCall call(const Event& event, EventRef ref, const std::string& name) const {
    const EventCall kind = call_of(event);
    const bool passes = kind == EventCall::kInsert || kind == EventCall::kDeletePair;
    PlayedCall call;
    call.session = sessions_.at(ref.thread);
    call.call = kind;
    call.auto_commit = is_auto_commit(event);
    call.code = event.code;
    call.begin_ticks = event.end - event.duration - start_;
    call.end_ticks = event.end - start_;
    call.text = name + " " + words_.call(event);
    if (!is_data_call(kind)) return call;
    call.index = indexes_.at(event.index);
    call.passed = record(event, passes);
    if (succeeded(event)) call.answered = record(event, true);
    return call;
  }

  // What no serial order gives, in words.
  std::string fault() const {
    if (small_.violation.edges.empty()) return small_.violation.detail + ".";
    std::string text = "No order of the transactions, one after the other, gives these answers:";
    for (const ViolationEdge& edge : small_.violation.edges) {
      text += " T" + std::to_string(edge.from + 1) + " must stand before T" +
              std::to_string(edge.to + 1) + ", for " + edge.because + ".";
    }
    return text;
  }

  std::string about() const {
    const std::string& name = small_.violation.name;
    std::string text =
        name +
        ", from a recorded run, of which all calls are left out that it does "
        "not rest on.\n\n" +
        fault() + "\n\nBuild and run, with this file as " + name +
        ".c and your library as LIBRARY.so:\n  cc -std=c99 -pthread -I api/include " + name +
        ".c ./LIBRARY.so -o " + name + " && ./" + name +
        "\nExit status 1: every call answered as in the recorded run, which no "
        "serialisable library can do.\n0: the fault did not show.\n\nThe recorded "
        "calls, in the order in which they returned";
    text += play_.before.empty() ? ":\n" : "; before them there were\n  ";
    for (std::size_t i = 0; i < play_.before.size(); ++i) {
      const Event& event = small_.history.threads.back()[i];
      text += (i > 0 ? ", " : "") + play_.before[i].payload + " under " +
              key_text(small_.history, event.index, event.key) + " of " +
              small_.history.indexes[event.index].name;
    }
    if (!play_.before.empty()) text += ":\n";
    return text + lines();
  }

  std::string lines() const {
    std::vector<std::pair<uint64_t, std::string>> lines;
    for (std::size_t i = 0; i < small_.transactions.size(); ++i) {
      for (const EventRef ref : calls_of(small_.history, small_.transactions[i].span)) {
        const Event& event = small_.history.threads[ref.thread][ref.position];
        lines.emplace_back(event.end, "  T" + std::to_string(i + 1) + " " + words_.call(event) +
                                          " = " + words_.answer(event) + "\n");
      }
    }
    std::ranges::sort(lines);
    std::string text;
    for (const auto& [end, line] : lines) text += line;
    return text;
  }

  const MinimalHistory& small_;
  const Words& words_;
  Play play_;
  std::map<uint32_t, uint32_t> sessions_, indexes_;  // from numbers of the history
  uint64_t start_ = UINT64_MAX;
};

}  // namespace

std::optional<Play> replay_of(const MinimalHistory& small, const Words& words) {
  return Replay(small, words).write();
}

}  // namespace keydrome
