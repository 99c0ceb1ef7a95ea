// A session is a list of random calls of one thread. This file implements the investigation of a
// failed session. The investigation collects the failures in the session's outcome and chooses one
// of them. By replaying parts of the session, it finds a small part that fails in the same way, and
// describes this part in a finding.
#include "benchmarks/differential/investigation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/count_text.h"
#include "benchmarks/differential/c_program.h"
#include "benchmarks/differential/judged_calls.h"
#include "benchmarks/differential/narration.h"
#include "benchmarks/differential/plain_session.h"
#include "benchmarks/differential/script_calls.h"
#include "benchmarks/differential/shrinker.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "checker/history/calls.h"
#include "checker/history/transactions.h"
#include "checker/witness/witness.h"

namespace keydrome::differential {

using certify::Violation;
using history::Event;
using history::EventCall;
using history::History;
using history::Transaction;
using history::Transactions;
using history::TransactionSpan;
using model::SessionViolation;

namespace {

constexpr uint64_t kNsPerMs = 1'000'000;
constexpr std::size_t kSummaryMax = 900;           // report.v1.schema.json allows 1,000 characters
constexpr std::size_t kProgramBytesMax = 200'000;  // limit of the same schema
// Only one failure is shrunk, i.e. reduced to a small session. At most this many findings with
// other names are reported as they are.
constexpr std::size_t kOthersMax = 4;
// Time limits of replays. A few thousand calls take a few ms, so the search for a hang treats a
// replay that exceeds the short limit as a hang. The final replay uses the long limit to confirm
// the hang.
constexpr uint64_t kShortLimitMs = 400, kLongLimitMs = 3'000;

// The failure that replays must reproduce. The session is played in phases, and each phase consists
// of rounds, which use different indexes. A Round is a range of calls; a phase is stored as a
// Round, too.
struct Suspect {
  std::string name;    // name of the finding
  std::string stop;    // Ending::stop; empty for a wrong result
  std::string reason;  // reason for the finding, without a full stop
  Round phase;
  Round round;  // the round in which the failure occurred; the whole phase if unknown
};

// One replay of a session: how it ended, and what the model of the contract (the specification of
// the API) says about its results.
struct Trial {
  judge::Ending ending;
  std::optional<JudgedCalls> judged;  // only if the replay was complete
};

// Replays sessions until the time for shrinking is over.
class Replayer {
 public:
  Replayer(const judge::Replay& replay, uint64_t shrink_ms)
      : replay_(replay), end_ns_(now_ns() + shrink_ms * kNsPerMs) {}

  bool has_time() const { return replay_ && now_ns() < end_ns_; }
  uint32_t replays() const { return replays_; }

  Trial play(const Case& session, uint64_t limit_ms) {
    ++replays_;
    judge::Replayed replayed = replay_(script_of(session), limit_ms);
    Trial trial{.ending = std::move(replayed.ending), .judged = {}};
    if (trial.ending.complete) {
      trial.judged = judge_calls(session, session.calls, replayed.outcome.phases.at(0));
    }
    return trial;
  }

 private:
  const judge::Replay& replay_;
  const uint64_t end_ns_;
  uint32_t replays_ = 0;
};

bool reproduces(const Suspect& suspect, const Trial& trial) {
  if (!suspect.stop.empty()) return trial.ending.stop == suspect.stop;
  return trial.judged && trial.judged->fault && trial.judged->fault->name == suspect.name;
}

// The smallest session found, and the result of its final replay.
struct Shrunk {
  std::string name;  // name of the finding
  Case session;
  Trial trial;
};

// Returns the calls [first, end) as a separate session.
Case part_of(const Case& session, uint32_t first, uint32_t end) {
  Case part = session;
  const std::span<const Call> calls = calls_of(session, {.first = first, .end = end});
  part.calls.assign(calls.begin(), calls.end());
  return compact(part);
}

// A failing session with at most this many calls is easy to read, so the plain sessions (fill an
// index, then read it) are not tried.
constexpr std::size_t kFewCalls = 25;
// A session with more calls takes too long to shrink, so the plain sessions are tried first.
constexpr std::size_t kManyCalls = 500;

// If Suspect::round has at least this many calls, it is a whole phase (because the failing round is
// unknown) or the round of large transactions. Both take long to shrink, so the plain sessions are
// tried first.
constexpr uint32_t kLargeRound = 15'000;

class Search {
 public:
  Search(const Case& session, const Suspect& suspect, Replayer& replayer)
      : session_(session), suspect_(suspect), replayer_(replayer) {}

  // Returns a small failing session. First tries the round alone. If the round does not fail, or
  // keeps more than kFewCalls calls, tries the plain sessions (fill an index, then read it). If
  // neither the round nor a plain session fails, tries the round with the earlier calls of the
  // phase, and then with all calls since the library was loaded. If the round has at least
  // kLargeRound calls, begins with the plain sessions.
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
  uint64_t limit_ms() const { return suspect_.stop == "hang" ? kShortLimitMs : kLongLimitMs; }

  Fails fails_as(const Suspect& suspect) {
    return [this, &suspect](const Case& candidate) {
      if (!replayer_.has_time()) return Answer::kNoTime;
      return reproduces(suspect, replayer_.play(candidate, limit_ms())) ? Answer::kFails
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
    return confirmed(suspect_, shrink(std::move(part), fails));
  }

  // Tries the plain sessions at the first call; later calls return nothing. If the original failure
  // is a wrong result, accepts any wrong result.
  std::optional<Shrunk> from_plain() {
    if (std::exchange(tried_plain_, true)) return std::nullopt;
    for (Case& plain : plain_sessions()) {
      if (!replayer_.has_time()) return std::nullopt;
      const Trial trial = replayer_.play(plain, limit_ms());
      Suspect suspect = suspect_;
      const bool wrong = trial.judged && trial.judged->fault;
      if (suspect.stop.empty() && wrong) suspect.name = trial.judged->fault->name;
      if (!reproduces(suspect, trial)) continue;
      return confirmed(suspect, shrink(std::move(plain), fails_as(suspect)));
    }
    return std::nullopt;
  }

  // Replays the smallest session once more with the long limit, because the finding shows the
  // results of this replay and because a slow replay must not count as a hang.
  std::optional<Shrunk> confirmed(const Suspect& suspect, const Case& session) {
    Shrunk shrunk{.name = suspect.name, .session = compact(session), .trial = {}};
    shrunk.trial = replayer_.play(shrunk.session, kLongLimitMs);
    if (!reproduces(suspect, shrunk.trial)) return std::nullopt;
    return shrunk;
  }

  const Case& session_;
  const Suspect& suspect_;
  Replayer& replayer_;
  bool tried_plain_ = false;
};

// Returns the round that uses the index of the event at `position`. If this event names no index
// that a round uses, takes the last earlier event that does. Returns the whole phase if there is no
// such event.
Round round_of(const Generated& generated, const Round& phase, const JudgedCalls& judged,
               uint32_t position) {
  const std::vector<Event>& events = judged.history.threads[0];
  std::map<uint16_t, Round> rounds;  // the round of each index
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

// Returns the spans of the transactions that contain any of the events.
std::vector<TransactionSpan> spans_of(const History& history,
                                      const std::vector<uint32_t>& positions) {
  const Transactions transactions = split_into_transactions(history);
  std::vector<TransactionSpan> spans;
  const auto add = [&](const std::vector<Transaction>& from) {
    for (const Transaction& one : from) {
      const bool contains = std::ranges::any_of(positions, [&](uint32_t position) {
        return one.first <= position && position <= one.last;
      });
      if (contains) spans.push_back(span_of(one));
    }
  };
  add(transactions.committed);
  add(transactions.others);
  std::ranges::sort(spans, {}, &TransactionSpan::first);
  return spans;
}

Json witness_of(History history, const SessionViolation& fault) {
  history.ticks_per_s = judge::ticks_per_s();
  Violation violation;
  violation.name = fault.name;
  std::vector<uint32_t> positions = fault.causes;
  positions.push_back(fault.position);
  violation.transactions = spans_of(history, positions);
  for (const uint32_t position : positions) {
    violation.events.push_back({.thread = 0, .position = position});
  }
  return witness::witness_json(history, violation, /*with_program=*/false);
}

std::string sentence_of(const History& history, const Case& session,
                        const SessionViolation& fault) {
  return Narrator(session, history).call(fault.position) + ", but " + fault.reason;
}

// Returns the calls that explain the finding, for sessions that are too long to be shown.
std::string causes_of(const Narrator& narrator, const SessionViolation& fault) {
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
  return "\n(not shown: " + count_text(left_out, "earlier line") + ")" + text;
}

// The description of a session that was shrunk.
struct Description {
  std::string sentence;  // what is wrong, without a full stop
  std::string detail;
  Json witness;
};

std::string reproduces(uint32_t calls) {
  if (calls == 1) return "This call reproduces";
  return "These " + std::to_string(calls) + " calls reproduce";
}

// Returns the C program that makes the calls, or an empty string if there is none: a program must
// give the results of `history`, and the report has room for kProgramBytesMax.
std::string program_of(const Shrunk& shrunk, const History& history, const std::string& sentence) {
  if (!corresponds(history, shrunk.session.calls)) return "";
  std::string program = c_program(shrunk.session, history, sentence);
  return program.size() > kProgramBytesMax ? "" : program;
}

Description describe(const Suspect& suspect, const Shrunk& shrunk, const Replayer& replayer) {
  const SessionViolation* const fault =
      suspect.stop.empty() ? &*shrunk.trial.judged->fault : nullptr;
  const History history = fault ? shrunk.trial.judged->history : unanswered(shrunk.session);
  const Narrator narrator(shrunk.session, history);
  const auto last =
      fault ? fault->position : static_cast<uint32_t>(shrunk.session.calls.size() - 1);
  Description text;
  text.sentence = fault
                      ? sentence_of(history, shrunk.session, *fault)
                      : narrator.call(last) + (replayer.has_time() ? "" : ", or an earlier call") +
                            ": " + suspect.reason;
  const std::vector<std::string> lines = narrator.lines(last);
  const std::string legend = narrator.legend(last);
  text.detail = text.sentence + "\n" + reproduces(last + 1) +
                " the error if the library is empty at the beginning. The search replayed " +
                count_text(replayer.replays(), "variant") +
                " of the calls and found no smaller one that fails" +
                (legend.empty() ? "" : ". " + legend) + ":" + joined(lines);
  const std::string notation = narrator.notation(last);
  if (!notation.empty())
    text.detail +=
        "\nThe same calls in the notation of benchmarks/scenarios/README.md: " + notation;
  if (fault != nullptr && lines.size() > kLinesMax) {
    text.detail += "\nThe finding depends on these calls:\n" + causes_of(narrator, *fault);
  }
  if (fault) text.witness = witness_of(history, *fault);
  const std::string abbreviations = narrator.abbreviations(last);
  if (!abbreviations.empty()) text.detail += "\n" + abbreviations;
  const std::string program = program_of(shrunk, history, text.sentence);
  if (program.empty()) return text;
  text.witness["program"] = program;
  if (lines.size() > kLinesMax || !abbreviations.empty()) {
    text.detail += "\nThe C program of this finding makes all calls, with whole keys";
  }
  return text;
}

class Investigation {
 public:
  Investigation(const Generated& generated, std::span<const Round> phases,
                const judge::Played& played, judge::Findings& findings)
      : generated_(generated), phases_(phases), played_(played), findings_(findings) {}

  bool run(uint64_t shrink_ms) {
    for (std::size_t i = 0; i < played_.outcome.phases.size(); ++i) look(i);
    const judge::Ending& ending = played_.ending;
    const std::size_t broken = played_.outcome.phases.size();
    if (!ending.complete && !ending.stop.empty() && broken < phases_.size()) {
      suspects_.push_back(ended_early(ending.stop, phases_[broken]));
    }
    if (suspects_.empty()) return mismatch_;
    Replayer replayer(played_.replay, shrink_ms);
    report(chosen(), replayer);
    return true;
  }

 private:
  static Suspect ended_early(const std::string& stop, const Round& phase) {
    std::string name = "crashed", reason = "the call ended the process (" + stop + ")";
    if (stop == "hang") {
      name = "timed_out";
      reason = "this call did not return, but every call must return in time";
    } else if (stop == "exception") {
      name = stop;
      reason = "this call threw an exception, but every call must catch its exceptions";
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
    if (judged.advice && findings_.count(judged.advice->name) == 0) advise(judged);
    if (!judged.fault) return;
    const Round round = round_of(generated_, phase, judged, judged.fault->position);
    // One finding of each name is enough for a reader.
    if (!details_.try_emplace(judged.fault->name, detail_of(judged, *judged.fault)).second) return;
    witnesses_[judged.fault->name] = witness_of(judged.history, *judged.fault);
    suspects_.push_back({.name = judged.fault->name,
                         .stop = {},
                         .reason = judged.fault->reason,
                         .phase = phase,
                         .round = round});
  }

  // Adds an advisory finding (a warning), which is not shrunk.
  void advise(const JudgedCalls& judged) {
    findings_.add({.suite = "",
                   .name = judged.advice->name,
                   .severity = Severity::kAdvisory,
                   .detail = detail_of(judged, *judged.advice),
                   .witness = {}});
  }

  std::string detail_of(const JudgedCalls& judged, const SessionViolation& fault) const {
    const Narrator narrator(generated_.session, judged.history);
    return sentence_of(judged.history, generated_.session, fault) + "\n" +
           causes_of(narrator, fault);
  }

  // If a failure ended the session, returns this failure. Otherwise returns the wrong result in the
  // smallest round.
  Suspect chosen() const {
    const auto size = [](const Suspect& suspect) {
      return suspect.stop.empty() ? suspect.round.end - suspect.round.first : 0;
    };
    return *std::ranges::min_element(suspects_, {}, size);
  }

  void report(const Suspect& suspect, Replayer& replayer) {
    const std::optional<Shrunk> shrunk = Search(generated_.session, suspect, replayer).run();
    if (shrunk) {
      Description text = describe(suspect, *shrunk, replayer);
      add(shrunk->name, std::move(text.detail), std::move(text.witness));
    } else {
      add_unshrunk(suspect, replayer.replays());
    }
    std::size_t others = 0;
    for (const Suspect& other : suspects_) {
      const std::string& reported = shrunk ? shrunk->name : suspect.name;
      if (other.name == reported || ++others > kOthersMax) continue;
      add_unshrunk(other, 0);
    }
  }

  void add_unshrunk(const Suspect& suspect, uint32_t replays) {
    std::string detail = "a call failed in the phase that begins with call " +
                         std::to_string(suspect.phase.first + 1) + ": " + suspect.reason;
    Json witness;
    if (const auto found = details_.find(suspect.name); found != details_.end()) {
      detail = found->second;
      witness = witnesses_.at(suspect.name);
    }
    if (replays > 0) {
      detail += "\nThe calls were replayed " +
                (replays == 1 ? "once" : std::to_string(replays) + " times, in whole or in part") +
                ", but did not reproduce the error. It may depend on time or chance: run the suite "
                "differential several times to see it again.";
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
  const judge::Played& played_;
  judge::Findings& findings_;
  std::vector<Suspect> suspects_;
  std::map<std::string, std::string> details_;  // details of a finding, by the finding's name
  std::map<std::string, Json> witnesses_;
  bool mismatch_ = false;
};

}  // namespace

std::span<const Call> calls_of(const Case& session, const Round& range) {
  return std::span(session.calls).subspan(range.first, range.end - range.first);
}

bool investigate(const Generated& generated, std::span<const Round> phases,
                 const judge::Played& played, uint64_t shrink_ms, judge::Findings& findings) {
  return Investigation(generated, phases, played, findings).run(shrink_ms);
}

}  // namespace keydrome::differential
