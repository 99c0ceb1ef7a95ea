#include "benchmarks/differential/investigation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "benchmarks/differential/c_program.h"
#include "benchmarks/differential/judged_calls.h"
#include "benchmarks/differential/narration.h"
#include "benchmarks/differential/plain_session.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/differential/shrinker.h"
#include "benchmarks/kit/recorded_judge.h"
#include "checker/calls.h"
#include "checker/transactions.h"
#include "checker/witness.h"

namespace keydrome::differential {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr std::size_t kLinesMax = 40;
constexpr std::size_t kSummaryMax = 900;           // report.v1.schema.json allows 1,000 characters
constexpr std::size_t kProgramBytesMax = 200'000;  // there too
constexpr std::size_t kOthersMax = 4;              // findings of other names, not made smaller
// How long a replay may take. Some thousand calls take some ms; what has not ended after this
// hangs, which is asked again, with more patience, at the end.
constexpr uint64_t kImpatientMs = 400, kPatientMs = 3'000;

// What to look for in replays.
struct Suspect {
  std::string name;    // of the finding
  std::string stop;    // Ending::stop; empty: a wrong answer
  std::string reason;  // half a sentence
  Round phase;
  Round round;  // in which it was; the phase where that is not known
};

// One replay of a session.
struct Trial {
  Ending ending;
  std::optional<JudgedCalls> judged;  // when it was complete
};

// Plays sessions again, as long as there is time.
class Laboratory {
 public:
  Laboratory(const Replay& replay, uint64_t shrink_ms)
      : replay_(replay), end_ns_(now_ns() + shrink_ms * kNsPerMs) {}

  bool has_time() const { return replay_ && now_ns() < end_ns_; }
  uint32_t replays() const { return replays_; }

  Trial play(const Case& session, uint64_t patience_ms) {
    ++replays_;
    Replayed replayed = replay_(script_of(session), patience_ms);
    Trial trial{.ending = std::move(replayed.ending), .judged = {}};
    if (trial.ending.complete) {
      trial.judged = judge_calls(session, session.calls, replayed.outcome.phases.at(0));
    }
    return trial;
  }

 private:
  const Replay& replay_;
  const uint64_t end_ns_;
  uint32_t replays_ = 0;
};

bool fits(const Suspect& suspect, const Trial& trial) {
  if (!suspect.stop.empty()) return trial.ending.stop == suspect.stop;
  return trial.judged && trial.judged->fault && trial.judged->fault->name == suspect.name;
}

// The smallest session that was found, and what it showed when it was played for the last time.
struct Shrunk {
  std::string name;  // of the finding
  Case session;
  Trial trial;
};

// The calls of a part of the session, from `first` on.
Case part_of(const Case& session, uint32_t first, uint32_t end) {
  Case part = session;
  const std::span<const Call> calls = calls_of(session, {.first = first, .end = end});
  part.calls.assign(calls.begin(), calls.end());
  return compact(part);
}

// Sessions that are easier to read than so many calls have nothing to gain from a plain one.
constexpr std::size_t kFewCalls = 25;
// More are not cut down in any time that one would wait.
constexpr std::size_t kManyCalls = 500;

// No round has so many.
constexpr uint32_t kLargeRound = 15'000;

class Search {
 public:
  Search(const Case& session, const Suspect& suspect, Laboratory& laboratory)
      : session_(session), suspect_(suspect), laboratory_(laboratory) {}

  // The round alone; much of something simple, where that is better to read; and what a fault may
  // need beside the round: what came before in the phase, or since the library was loaded.
  std::optional<Shrunk> run() {
    const bool unknown_round = suspect_.round.end - suspect_.round.first >= kLargeRound;
    if (unknown_round) {
      if (std::optional<Shrunk> plain = from_plain()) return plain;
    }
    std::optional<Shrunk> found = from(suspect_.round.first);
    if (!found || found->session.calls.size() > kFewCalls) {
      if (std::optional<Shrunk> plain = from_plain()) return plain;
    }
    if (found) return found;
    if (suspect_.phase.first < suspect_.round.first) found = from(suspect_.phase.first);
    if (!found && suspect_.phase.first > 0) found = from(0);
    return found;
  }

 private:
  uint64_t patience_ms() const { return suspect_.stop == "hang" ? kImpatientMs : kPatientMs; }

  Fails fails_as(const Suspect& suspect) {
    return [this, &suspect](const Case& candidate) {
      if (!laboratory_.has_time()) return Answer::kNoTime;
      return fits(suspect, laboratory_.play(candidate, patience_ms())) ? Answer::kFails
                                                                       : Answer::kPasses;
    };
  }

  std::optional<Shrunk> from(uint32_t first) {
    const Fails fails = fails_as(suspect_);
    Case part = part_of(session_, first, suspect_.round.end);
    if (fails(part) != Answer::kFails) return std::nullopt;
    part = shorten(std::move(part), fails);
    if (part.calls.size() > kManyCalls) {
      if (std::optional<Shrunk> plain = from_plain()) return plain;
    }
    return shown(suspect_, shrink(std::move(part), fails));
  }

  // Once: whatever is wrong with it, when it is a wrong answer that is looked for.
  std::optional<Shrunk> from_plain() {
    if (std::exchange(tried_plain_, true)) return std::nullopt;
    for (Case& plain : plain_sessions()) {
      if (!laboratory_.has_time()) return std::nullopt;
      const Trial trial = laboratory_.play(plain, patience_ms());
      Suspect suspect = suspect_;
      const bool wrong = trial.judged && trial.judged->fault;
      if (suspect.stop.empty() && wrong) suspect.name = trial.judged->fault->name;
      if (!fits(suspect, trial)) continue;
      return shown(suspect, shrink(std::move(plain), fails_as(suspect)));
    }
    return std::nullopt;
  }

  // Once more: what is shown must have happened, and a hang is more than a slow machine.
  std::optional<Shrunk> shown(const Suspect& suspect, const Case& session) {
    Shrunk shrunk{.name = suspect.name, .session = compact(session), .trial = {}};
    shrunk.trial = laboratory_.play(shrunk.session, kPatientMs);
    if (!fits(suspect, shrunk.trial)) return std::nullopt;
    return shrunk;
  }

  const Case& session_;
  const Suspect& suspect_;
  Laboratory& laboratory_;
  bool tried_plain_ = false;
};

// The round that the event at or before `position` belongs to.
Round round_of(const Generated& generated, const Round& phase, const JudgedCalls& judged,
               uint32_t position) {
  const std::vector<Event>& events = judged.history.threads[0];
  std::map<uint16_t, Round> rounds;  // by index
  for (const Round& round : generated.rounds) {
    if (round.first < phase.first || round.end > phase.end) continue;
    for (const Call& call : calls_of(generated.session, round)) {
      if (uses_index(call.kind)) rounds.try_emplace(call.index, round);
    }
  }
  rounds.erase(kMissingIndex);
  for (uint32_t at = position + 1; at-- > 0;) {
    const EventCall call = call_of(events[at]);
    const bool has_index =
        call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
    if (!has_index) continue;
    if (const auto found = rounds.find(events[at].index); found != rounds.end()) {
      return found->second;
    }
  }
  return phase;
}

// The spans of the transactions that hold any of the events.
std::vector<TransactionSpan> spans_of(const History& history,
                                      const std::vector<uint32_t>& positions) {
  const Transactions transactions = split_into_transactions(history);
  std::vector<TransactionSpan> spans;
  const auto add = [&](const std::vector<Transaction>& from) {
    for (const Transaction& one : from) {
      const bool holds = std::ranges::any_of(positions, [&](uint32_t position) {
        return one.first <= position && position <= one.last;
      });
      if (holds) spans.push_back(span_of(one));
    }
  };
  add(transactions.committed);
  add(transactions.others);
  std::ranges::sort(spans, {}, &TransactionSpan::first);
  return spans;
}

Json witness_of(History history, const SessionFault& fault) {
  history.ticks_per_s = ticks_per_s();
  Violation violation;
  violation.name = fault.name;
  std::vector<uint32_t> positions = fault.causes;
  positions.push_back(fault.position);
  violation.transactions = spans_of(history, positions);
  for (const uint32_t position : positions) {
    violation.events.push_back({.thread = 0, .position = position});
  }
  return witness_json(history, violation, /*with_program=*/false);
}

std::string sentence_of(const History& history, const Case& session, const SessionFault& fault) {
  return Narrator(session, history).call(fault.position) + ", but " + fault.reason;
}

// The calls that the accusation rests on, where the whole session is too long to be read.
std::string causes_of(const Narrator& narrator, const SessionFault& fault) {
  std::string text;
  for (const uint32_t cause : fault.causes) {
    text += "call " + std::to_string(cause + 1) + ": " + narrator.call(cause) + "\n";
  }
  return text + "call " + std::to_string(fault.position + 1) + ": " + narrator.call(fault.position);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  const std::size_t left_out = lines.size() > kLinesMax ? lines.size() - kLinesMax : 0;
  for (std::size_t i = left_out; i < lines.size(); ++i) text += "\n" + lines[i];
  if (left_out == 0) return text;
  return "\n" + std::to_string(left_out) + " calls before these are left out" + text;
}

// What is told of a session that was made smaller.
struct Told {
  std::string sentence;  // what is wrong, without full stop
  std::string detail;
  Json witness;
};

Told tell(const Suspect& suspect, const Shrunk& shrunk, const Laboratory& laboratory) {
  const std::vector<Call>& calls = shrunk.session.calls;
  const SessionFault* const fault = suspect.stop.empty() ? &*shrunk.trial.judged->fault : nullptr;
  const History history = fault ? shrunk.trial.judged->history : unanswered(shrunk.session);
  const Narrator narrator(shrunk.session, history);
  const auto last = fault ? fault->position : static_cast<uint32_t>(calls.size() - 1);
  Told told;
  told.sentence = fault
                      ? sentence_of(history, shrunk.session, *fault)
                      : narrator.call(last) + (laboratory.has_time() ? "" : ", or a call before") +
                            ": " + suspect.reason;
  const std::vector<std::string> lines = narrator.lines(last);
  told.detail = told.sentence + "\nA session of " + std::to_string(last + 1) +
                " calls shows it, from an empty library on (the smallest of " +
                std::to_string(laboratory.replays()) + " that were played):" + joined(lines);
  const std::string notation = narrator.notation(last);
  if (!notation.empty()) told.detail += "\nin the notation of the scenarios: " + notation;
  if (fault != nullptr && lines.size() > kLinesMax) {
    told.detail += "\nThe accusation rests on:\n" + causes_of(narrator, *fault);
  }
  if (fault) told.witness = witness_of(history, *fault);
  if (corresponds(history, calls)) {
    const std::string program = c_program(shrunk.session, history, told.sentence);
    if (program.size() <= kProgramBytesMax) told.witness["program"] = program;
  }
  return told;
}

class Investigation {
 public:
  Investigation(const Generated& generated, std::span<const Round> phases, const Played& played,
                Findings& findings)
      : generated_(generated), phases_(phases), played_(played), findings_(findings) {}

  bool run(uint64_t shrink_ms) {
    for (std::size_t i = 0; i < played_.outcome.phases.size(); ++i) look(i);
    const Ending& ending = played_.ending;
    const std::size_t broken = played_.outcome.phases.size();
    if (!ending.complete && !ending.stop.empty() && broken < phases_.size()) {
      suspects_.push_back(broken_off(ending.stop, phases_[broken]));
    }
    if (suspects_.empty()) return mismatch_;
    Laboratory laboratory(played_.replay, shrink_ms);
    accuse(chosen(), laboratory);
    return true;
  }

 private:
  static Suspect broken_off(const std::string& stop, const Round& phase) {
    std::string name = "crashed", reason = "it ends the process (" + stop + ")";
    if (stop == "hang") {
      name = "timed_out";
      reason = "it does not come back";
    } else if (stop == "exception") {
      name = stop;
      reason = "an exception leaves the library";
    }
    return {.name = std::move(name),
            .stop = stop,
            .reason = std::move(reason),
            .phase = phase,
            .round = phase};
  }

  void look(std::size_t number) {
    const Round& phase = phases_[number];
    JudgedCalls judged = judge_calls(generated_.session, calls_of(generated_.session, phase),
                                     played_.outcome.phases[number]);
    if (!judged.mismatch.empty()) {
      findings_.required("outcome_mismatch", judged.mismatch);
      mismatch_ = true;
    }
    if (!judged.not_judged.empty()) findings_.not_judged(judged.not_judged);
    if (!judged.fault) return;
    const Round round = round_of(generated_, phase, judged, judged.fault->position);
    // Every name once is enough.
    if (!details_.try_emplace(judged.fault->name, detail_of(judged)).second) return;
    witnesses_[judged.fault->name] = witness_of(judged.history, *judged.fault);
    suspects_.push_back({.name = judged.fault->name,
                         .stop = {},
                         .reason = judged.fault->reason,
                         .phase = phase,
                         .round = round});
  }

  std::string detail_of(const JudgedCalls& judged) const {
    const Narrator narrator(generated_.session, judged.history);
    return sentence_of(judged.history, generated_.session, *judged.fault) + "\n" +
           causes_of(narrator, *judged.fault);
  }

  // What broke the session off comes first; then the wrong answer in the smallest round.
  Suspect chosen() const {
    const auto size = [](const Suspect& suspect) {
      return suspect.stop.empty() ? suspect.round.end - suspect.round.first : 0;
    };
    return *std::ranges::min_element(suspects_, {}, size);
  }

  void accuse(const Suspect& suspect, Laboratory& laboratory) {
    const std::optional<Shrunk> shrunk = Search(generated_.session, suspect, laboratory).run();
    if (shrunk) {
      Told told = tell(suspect, *shrunk, laboratory);
      add(shrunk->name, std::move(told.detail), std::move(told.witness));
    } else {
      add_unshrunk(suspect, laboratory.replays());
    }
    std::size_t others = 0;
    for (const Suspect& other : suspects_) {
      const std::string& told = shrunk ? shrunk->name : suspect.name;
      if (other.name == told || ++others > kOthersMax) continue;
      add_unshrunk(other, 0);
    }
  }

  void add_unshrunk(const Suspect& suspect, uint32_t replays) {
    std::string detail = suspect.reason + ", in phase \"calls from " +
                         std::to_string(suspect.phase.first + 1) + "\"";
    Json witness;
    if (const auto found = details_.find(suspect.name); found != details_.end()) {
      detail = found->second;
      witness = witnesses_.at(suspect.name);
    }
    if (replays > 0) {
      detail += "\nPlayed again, it did not show: it depends on more than the calls.";
    }
    add(suspect.name, std::move(detail), std::move(witness));
  }

  void add(const std::string& name, std::string detail, Json witness) {
    const std::string sentence = detail.substr(0, std::min(detail.find('\n'), kSummaryMax));
    if (!witness.is_null()) witness["summary"] = sentence;
    findings_.add({.suite = "",
                   .name = name,
                   .severity = Severity::kRequired,
                   .detail = std::move(detail),
                   .witness = std::move(witness)});
  }

  const Generated& generated_;
  const std::span<const Round> phases_;
  const Played& played_;
  Findings& findings_;
  std::vector<Suspect> suspects_;
  std::map<std::string, std::string> details_;  // by name
  std::map<std::string, Json> witnesses_;
  bool mismatch_ = false;
};

}  // namespace

std::span<const Call> calls_of(const Case& session, const Round& range) {
  return std::span(session.calls).subspan(range.first, range.end - range.first);
}

bool investigate(const Generated& generated, std::span<const Round> phases, const Played& played,
                 uint64_t shrink_ms, Findings& findings) {
  return Investigation(generated, phases, played, findings).run(shrink_ms);
}

}  // namespace keydrome::differential
