// Implements outcome_layout.h and outcome_reader.h: computes the layout of the outcome memfd, and
// reads the untrusted results in it. The player, the process that calls the library, has written
// them as words (8 bytes per call) and, for some threads, as a trace of whole results.
#include "benchmarks/kit/script/outcome_reader.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/count_text.h"
#include "base/keydrome_error.h"
#include "base/parallel.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/script/word_events.h"
#include "benchmarks/kit/script/word_follower.h"
#include "keydrome/index.h"

namespace keydrome::script {

using history::Event;

namespace {

constexpr uint64_t kCacheLineBytes = 64;
// The room for failed attempts of each thread, in words. A quarter of the words that the thread's
// program needs is added to it.
constexpr uint64_t kSpareWordsMin = 4096;

uint64_t aligned(uint64_t offset) {
  return (offset + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

Error misfit(std::size_t thread, const std::string& what) {
  return Error{"Keydrome's recording of the library's results in thread " + std::to_string(thread) +
               " has " + what +
               ". Keydrome keeps this recording in the library's process, so the library may have "
               "overwritten it: look for writes outside the library's own memory"};
}

// Returns an error about a thread that reported more than there is room for.
Error too_many(std::size_t thread, uint64_t reported, const std::string& what, uint64_t most) {
  return misfit(thread,
                count_text(reported, what) + ", but room for at most " + std::to_string(most));
}

// Copies the bytes of an array of the image.
template <typename T>
std::vector<T> copy_array(std::span<const std::byte> image, uint64_t offset, uint64_t count) {
  const auto* first = reinterpret_cast<const T*>(image.data() + offset);
  return {first, first + count};
}

// Copies what one thread reported, and checks it against the layout.
Result<ThreadResult> copy_thread(std::span<const std::byte> image, const OutcomeLayout& layout,
                                 std::size_t thread) {
  const format::OutcomeHeader::Span& span = layout.header.spans[thread];
  ThreadResult result;
  result.reported = std::make_unique<format::ThreadOutcome>();
  format::ThreadOutcome& reported = *result.reported;
  std::memcpy(&reported,
              image.data() + layout.header.thread_offset + thread * sizeof(format::ThreadOutcome),
              sizeof(format::ThreadOutcome));
  if (reported.words > span.words_capacity) {
    return too_many(thread, reported.words, "result", span.words_capacity);
  }
  if (reported.trace_bytes > span.trace_capacity) {
    return too_many(thread, reported.trace_bytes, "byte", span.trace_capacity);
  }
  if (reported.events > span.log_capacity) {
    return too_many(thread, reported.events, "recorded call", span.log_capacity);
  }
  if (reported.events_full > 1) {
    return misfit(thread, "the value " + std::to_string(reported.events_full) +
                              " in the field that says whether the log is full, but this value "
                              "must be 0 or 1");
  }
  result.words = copy_array<uint64_t>(image, span.words_offset, reported.words);
  result.events = copy_array<Event>(image, span.log_offset, reported.events);
  return result;
}

// Counts inserts that returned ENTRY_EXISTS without reason as violations of the thread. The player
// could not count them, because only the referee, in which this code runs, knows which pairs may
// exist.
void add_unexpected_entries(const Followed& followed, format::ThreadOutcome& reported) {
  if (followed.unexpected_entries == 0) return;
  if (reported.code_violations == 0 ||
      followed.first_unexpected_entry < reported.first_violation.op) {
    reported.first_violation = {
        .op = followed.first_unexpected_entry, .code = ENTRY_EXISTS, .detail = 0};
  }
  reported.code_violations += followed.unexpected_entries;
}

// Replays the program of a thread with the words that the thread has left (word_follower.h), and
// stores the results, ends and totals that follow from them.
Result<void> follow(const Script& script, const PhaseScript& phase, std::size_t thread,
                    bool keep_calls, ThreadResult& result) {
  const std::span<const format::Op> ops = phase.threads[thread];
  const TickClock& clock = referee_clock();
  const uint64_t ended_ticks = result.reported->ended_ticks;
  WordEvents events(script, result.reported->go_ticks, ended_ticks);
  Result<Followed> followed = follow_words(ops, clock, ended_ticks, result.words,
                                           keep_calls ? &events : nullptr, phase.schedule);
  if (!followed) return misfit(thread, followed.error().message);
  add_unexpected_entries(*followed, *result.reported);
  result.results = std::move(followed->results);
  result.ops = followed->ops;
  result.ends = std::move(followed->ends);
  result.totals = std::move(followed->totals);
  if (!keep_calls) return {};
  result.events = events.take();
  result.unresolved = events.take_unresolved();
  return {};
}

}  // namespace

const TickClock& referee_clock() {
  static const TickClock clock;
  return clock;
}

OutcomeLayout outcome_layout(const PhaseScript& phase, const Pools& pools) {
  const std::size_t threads = phase.threads.size();
  KEYDROME_CHECK(threads <= format::kThreadsMax && phase.trace_capacity_bytes.size() == threads);
  OutcomeLayout layout;
  layout.header.version = format::kOutcomeVersion;
  layout.header.threads = static_cast<uint32_t>(threads);
  layout.header.thread_offset = aligned(sizeof(format::OutcomeHeader));
  uint64_t offset = layout.header.thread_offset + threads * sizeof(format::ThreadOutcome);
  for (std::size_t t = 0; t < threads; ++t) {
    format::OutcomeHeader::Span& span = layout.header.spans[t];
    const uint64_t needed = format::count_words(phase.threads[t], pools.procedures);
    span.words_spare = needed / 4 + kSpareWordsMin;
    span.words_capacity = needed + span.words_spare + format::kWordsReserve;
    span.words_offset = offset;
    offset = aligned(offset + span.words_capacity * sizeof(uint64_t));
    span.trace_capacity = phase.trace_capacity_bytes[t];
    span.trace_offset = offset;
    offset = aligned(offset + span.trace_capacity);
    if (phase.log_capacity.empty()) continue;
    span.log_capacity = phase.log_capacity[t];
    span.log_offset = offset;
    offset = aligned(offset + span.log_capacity * sizeof(Event));
  }
  layout.size_bytes = offset;
  return layout;
}

void clear_outcome(const OutcomeLayout& layout, std::span<std::byte> image) {
  KEYDROME_CHECK(image.size() >= layout.size_bytes);
  uint64_t from = 0;
  for (const format::OutcomeHeader::Span& span :
       std::span(layout.header.spans).first(layout.header.threads)) {
    std::memset(image.data() + from, 0, span.trace_offset - from);
    from = span.trace_offset + span.trace_capacity;
  }
  std::memset(image.data() + from, 0, layout.size_bytes - from);
}

void write_outcome_header(const OutcomeLayout& layout, std::span<std::byte> image) {
  KEYDROME_CHECK(image.size() >= layout.size_bytes);
  std::memcpy(image.data(), &layout.header, sizeof layout.header);
}

Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout,
                                  const Script& script, const PhaseScript& phase, bool keep_calls) {
  if (image.size() < layout.size_bytes)
    return Error{"the shared memory with the library's results has " +
                 std::to_string(image.size()) + " bytes, but the referee created it with " +
                 std::to_string(layout.size_bytes) + ", so the results cannot be read; " +
                 kRepeatThenReport};
  const bool recorded = !phase.log_capacity.empty();
  keep_calls = keep_calls && !recorded;
  PhaseOutcome outcome;
  outcome.events = recorded     ? EventSource::kLog
                   : keep_calls ? EventSource::kWords
                                : EventSource::kNone;
  std::vector<std::optional<Result<ThreadResult>>> threads(layout.header.threads);
  const std::optional<InsertedRecords> inserted =
      phase.verifies ? std::optional<InsertedRecords>(script) : std::nullopt;
  in_parallel(threads.size(), [&](std::size_t t) {
    threads[t] = copy_thread(image, layout, t);
    if (!*threads[t]) return;
    const std::span<const std::byte> trace =
        image.subspan(layout.header.spans[t].trace_offset, (*threads[t])->reported->trace_bytes);
    (*threads[t])->trace =
        copy_trace(trace, phase.threads[t], script, inserted ? &*inserted : nullptr);
    const Result<void> fits = follow(script, phase, t, keep_calls, **threads[t]);
    if (!fits) threads[t] = fits.error();
  });
  for (std::optional<Result<ThreadResult>>& thread : threads) {
    if (!*thread) return thread->error();
    outcome.threads.push_back(std::move(**thread));
  }
  return outcome;
}

void drop_unplayed(Script& script, const Outcome& outcome) {
  for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
    PhaseScript& phase = script.phases[p];
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      phase.threads[t].resize(outcome.phases[p].threads[t].ops);
    }
  }
}

}  // namespace keydrome::script
