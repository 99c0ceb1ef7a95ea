// Implements outcome_layout.h and outcome_reader.h: computes the layout of the outcome memfd, and
// reads the player's untrusted results.
#include "benchmarks/kit/script/outcome_reader.h"

#include <array>
#include <cstring>
#include <numeric>
#include <string>

#include "benchmarks/kit/format/program_walk.h"
#include "keydrome/index.h"

namespace keydrome::script {

using history::Event;

namespace {

constexpr uint64_t kCacheLineBytes = 64;

uint64_t aligned(uint64_t offset) {
  return (offset + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

Error misfit(std::size_t thread, const std::string& what) {
  return Error{"the player's report for thread " + std::to_string(thread) + " has " + what +
               "; the library's process may have changed it"};
}

// Copies the ends of a thread's transactions and checks that the thread's counters agree with them.
Result<std::vector<format::TransactionEnd>> read_ends(const std::byte* from, std::size_t thread,
                                                      const format::ThreadOutcome& counters) {
  std::vector<format::TransactionEnd> ends(counters.transactions);
  if (!ends.empty()) std::memcpy(ends.data(), from, ends.size());
  std::array<uint64_t, 5> count{};
  for (const format::TransactionEnd end : ends) {
    const auto number = static_cast<std::size_t>(end);
    if (number >= count.size()) return misfit(thread, "a transaction end with an undefined number");
    ++count[number];
  }
  const uint64_t committed =
      std::accumulate(std::begin(counters.committed), std::end(counters.committed), uint64_t{0});
  if (count[static_cast<std::size_t>(format::TransactionEnd::kCommitted)] != committed ||
      count[static_cast<std::size_t>(format::TransactionEnd::kAborted)] != counters.aborted ||
      count[static_cast<std::size_t>(format::TransactionEnd::kFailed)] != counters.failed ||
      count[static_cast<std::size_t>(format::TransactionEnd::kDeadlocked)] != counters.deadlocked) {
    return misfit(thread, "counters that do not match its transactions");
  }
  return ends;
}

// Copies the results of one thread and checks them against the layout.
Result<ThreadResult> read_thread(std::span<const std::byte> image, const OutcomeLayout& layout,
                                 std::size_t thread) {
  const format::OutcomeHeader::Span& span = layout.header.spans[thread];
  ThreadResult result;
  result.counters = std::make_unique<format::ThreadOutcome>();
  format::ThreadOutcome& counters = *result.counters;
  std::memcpy(&counters,
              image.data() + layout.header.thread_offset + thread * sizeof(format::ThreadOutcome),
              sizeof(format::ThreadOutcome));
  if (counters.transactions != layout.transactions[thread]) {
    return misfit(thread, std::to_string(counters.transactions) +
                              " transactions, but its program has " +
                              std::to_string(layout.transactions[thread]));
  }
  if (counters.words > span.words_capacity) {
    return misfit(thread, "more words than its program has calls");
  }
  if (counters.trace_bytes > span.trace_capacity) {
    return misfit(thread, "more evidence than fits into its part of the outcome memfd");
  }
  if (counters.events > span.log_capacity || counters.events_full > 1) {
    return misfit(thread, "more recorded calls than fit into its log");
  }
  if (counters.window_shift < format::kWindowShiftMin || counters.window_shift >= 64) {
    return misfit(thread, "an impossible window width");
  }
  Result<std::vector<format::TransactionEnd>> ends =
      read_ends(image.data() + span.ends_offset, thread, counters);
  if (!ends) return ends.error();
  result.ends = std::move(*ends);
  result.words.resize(counters.words);
  if (counters.words > 0) {
    std::memcpy(result.words.data(), image.data() + span.words_offset,
                counters.words * sizeof(uint64_t));
  }
  const std::byte* trace = image.data() + span.trace_offset;
  result.trace.assign(trace, trace + counters.trace_bytes);
  result.events.resize(counters.events);
  if (counters.events > 0) {
    std::memcpy(result.events.data(), image.data() + span.log_offset,
                counters.events * sizeof(Event));
  }
  return result;
}

}  // namespace

OutcomeLayout outcome_layout(const PhaseScript& phase) {
  const std::size_t threads = phase.threads.size();
  KEYDROME_CHECK(threads <= format::kThreadsMax && phase.trace_capacity_bytes.size() == threads);
  OutcomeLayout layout;
  layout.header.version = format::kOutcomeVersion;
  layout.header.threads = static_cast<uint32_t>(threads);
  layout.header.thread_offset = aligned(sizeof(format::OutcomeHeader));
  uint64_t offset = layout.header.thread_offset + threads * sizeof(format::ThreadOutcome);
  for (std::size_t t = 0; t < threads; ++t) {
    format::OutcomeHeader::Span& span = layout.header.spans[t];
    layout.transactions.push_back(format::count_transactions(phase.threads[t]));
    span.ends_capacity = layout.transactions.back();
    span.ends_offset = offset;
    offset = aligned(offset + span.ends_capacity);
    span.words_capacity = format::count_words(phase.threads[t]);
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

void write_outcome_header(const OutcomeLayout& layout, std::span<std::byte> image) {
  KEYDROME_CHECK(image.size() >= layout.size_bytes);
  std::memcpy(image.data(), &layout.header, sizeof layout.header);
}

Result<PhaseOutcome> read_outcome(std::span<const std::byte> image, const OutcomeLayout& layout) {
  if (image.size() < layout.size_bytes)
    return Error{
        "the outcome memfd is smaller than when the referee created it, so the player's results "
        "cannot be read"};
  PhaseOutcome outcome;
  for (std::size_t t = 0; t < layout.header.threads; ++t) {
    Result<ThreadResult> thread = read_thread(image, layout, t);
    if (!thread) return thread.error();
    outcome.threads.push_back(std::move(*thread));
  }
  return outcome;
}

bool TraceReader::next(Evidence& out) {
  if (rest_.empty() || damaged_) return false;
  format::TraceRecord record{};
  damaged_ = true;
  if (rest_.size() < sizeof record) return false;
  std::memcpy(&record, rest_.data(), sizeof record);
  const std::size_t key_bytes = record.key_bytes, payload_bytes = record.payload_bytes;
  if (key_bytes > MAX_VARCHAR_LEN + 1 || payload_bytes > MAX_PAYLOAD_LEN + 1) return false;
  const std::size_t padded = (sizeof record + key_bytes + payload_bytes + 7) / 8 * 8;
  if (padded > rest_.size()) return false;
  const char* text = reinterpret_cast<const char*>(rest_.data()) + sizeof record;
  out = Evidence{.op = record.op,
                 .repetition = record.repetition,
                 .code = record.code,
                 .key = {text, key_bytes},
                 .payload = {text + key_bytes, payload_bytes}};
  rest_ = rest_.subspan(padded);
  damaged_ = false;
  return true;
}

}  // namespace keydrome::script
