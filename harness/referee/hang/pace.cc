// Implements harness/referee/hang/pace.h: decides whether a phase that reached a time limit was
// slow or hung. Uses the progress of its threads, which PhaseWatch has sampled.
#include "harness/referee/hang/pace.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/format/outcome.h"
#include "harness/referee/hang/hang_text.h"
#include "harness/referee/hang/program_position.h"

namespace keydrome {
namespace {

constexpr uint64_t kSecondNs = 1000 * kNsPerMs;
// A silence is a time in which a thread was not seen to advance. PhaseWatch samples the threads
// every half second, so a silence below one second proves nothing.
constexpr uint64_t kSilenceMinNs = kSecondNs;
constexpr uint64_t kJustBegunNs = kSecondNs / 2;  // until PhaseWatch samples a second time
constexpr uint64_t kSilenceOperations = 4;

// Returns how many operations of its program (list of operations) a thread has completed.
uint64_t done_by(const script::PhaseScript& phase, const PhaseWatch& watch, std::size_t thread) {
  const std::vector<format::Op>& ops = phase.threads[thread];
  return std::min<uint64_t>(watch.reached(thread, ops) & ~format::kPositionBits, ops.size());
}

std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t digits = 3; digits < text.size(); digits += 4)
    text.insert(text.size() - digits, 1, ',');
  return text;
}

std::string seconds(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

double seconds_of(const PhaseTimes& times) {
  return static_cast<double>(times.now_ns - times.start_ns) / static_cast<double>(kSecondNs);
}

// Returns the parts as a list, such as "a, b and c".
std::string joined(const std::vector<std::string>& parts) {
  std::string list;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ";
    list += separator + parts[i];
  }
  return list;
}

std::string elapsed_text(const PhaseTimes& times) { return seconds("%.1f s", seconds_of(times)); }

}  // namespace

bool is_stuck(const script::Script& script, const script::PhaseScript& phase,
              const PhaseWatch& watch, const PhaseTimes& times) {
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    if (times.now_ns - watch.thread(t).since_ns < times.stuck_ns) continue;
    const std::vector<format::Op>& ops = phase.threads[t];
    const ProgramPosition position = program_position(script, ops, watch.reached(t, ops));
    if (!position.finished && (position.in_call || position.rolling_back)) return true;
  }
  return false;
}

bool has_just_begun(const PhaseTimes& times) {
  return times.now_ns - times.start_ns <= kJustBegunNs;
}

bool is_advancing(const script::Script& script, const script::PhaseScript& phase,
                  const PhaseWatch& watch, const PhaseTimes& times) {
  if (is_stuck(script, phase, watch, times)) return false;
  bool all_finished = true;
  uint64_t last_ns = 0;  // when the last thread was seen to advance
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const uint64_t advanced_ns = watch.thread(t).advanced_ns;
    const uint64_t done = done_by(phase, watch, t);
    last_ns = std::max(last_ns, advanced_ns);
    if (done >= phase.threads[t].size()) continue;
    all_finished = false;
    if (advanced_ns == 0) continue;
    const uint64_t mean_ns = (advanced_ns - times.start_ns) / std::max<uint64_t>(done, 1);
    const uint64_t silence_ns = std::max(kSilenceMinNs, kSilenceOperations * mean_ns);
    if (times.now_ns - advanced_ns <= silence_ns) return true;
  }
  return all_finished && times.now_ns - last_ns <= kSilenceMinNs;
}

std::string just_begun_text(const PhaseTimes& times) {
  return "; this phase has run for only " + elapsed_text(times) +
         ", so the earlier phases have used up the time";
}

std::string pace_text(const script::PhaseScript& phase, const PhaseWatch& watch,
                      const PhaseTimes& times) {
  constexpr std::size_t kThreadsNamed = 4;
  std::vector<std::string> parts;
  std::size_t unfinished = 0;
  double whole = 1;  // the largest ratio of a thread's operations to those that it has completed
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const uint64_t size = phase.threads[t].size();
    const uint64_t done = done_by(phase, watch, t);
    if (done >= size) continue;
    const auto made = static_cast<double>(std::max<uint64_t>(done, 1));
    whole = std::max(whole, static_cast<double>(size) / made);
    if (++unfinished > kThreadsNamed) continue;
    parts.push_back("thread " + std::to_string(t) + " made " + with_commas(done) + " of " +
                    with_commas(size) + (parts.empty() ? " operations" : ""));
  }
  if (unfinished > kThreadsNamed)
    parts.push_back(more_threads(unfinished - kThreadsNamed) + " made only some of theirs");
  if (unfinished == 0) {
    return "; all threads had made their calls, and the phase, which had run for " +
           elapsed_text(times) + ", was about to end";
  }
  return "; in " + elapsed_text(times) + ", " + joined(parts) +
         (unfinished == 1 ? "; it was" : "; they were") +
         " still advancing, and at this rate the phase " +
         seconds("takes about %.0f s", seconds_of(times) * whole);
}

}  // namespace keydrome
