#include "benchmarks/kit/outcome_reader.h"

#include <array>
#include <cstring>
#include <numeric>
#include <string>

#include "benchmarks/kit/program_walk.h"
#include "keydrome/index.h"

namespace keydrome {
namespace {

constexpr uint64_t kCacheLineBytes = 64;

uint64_t aligned(uint64_t offset) {
  return (offset + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

Error misfit(std::size_t thread, const std::string& what) {
  return Error{"thread " + std::to_string(thread) + " of the player reported " + what};
}

// Copies the ends of a thread's transactions and compares them with its counters.
Result<std::vector<TransactionEnd>> read_ends(const std::byte* from, std::size_t thread,
                                              const ThreadOutcome& counters) {
  std::vector<TransactionEnd> ends(counters.transactions);
  if (!ends.empty()) std::memcpy(ends.data(), from, ends.size());
  std::array<uint64_t, 5> count{};
  for (const TransactionEnd end : ends) {
    const auto number = static_cast<std::size_t>(end);
    if (number >= count.size()) return misfit(thread, "a transaction end that does not exist");
    ++count[number];
  }
  const uint64_t committed =
      std::accumulate(std::begin(counters.committed), std::end(counters.committed), uint64_t{0});
  if (count[static_cast<std::size_t>(TransactionEnd::kCommitted)] != committed ||
      count[static_cast<std::size_t>(TransactionEnd::kAborted)] != counters.aborted ||
      count[static_cast<std::size_t>(TransactionEnd::kFailed)] != counters.failed ||
      count[static_cast<std::size_t>(TransactionEnd::kDeadlocked)] != counters.deadlocked) {
    return misfit(thread, "counters that do not match its transactions");
  }
  return ends;
}

Result<ThreadResult> read_thread(std::span<const std::byte> image, const OutcomeLayout& layout,
                                 std::size_t thread) {
  const OutcomeHeader::Span& span = layout.header.spans[thread];
  ThreadResult result;
  result.counters = std::make_unique<ThreadOutcome>();
  ThreadOutcome& counters = *result.counters;
  std::memcpy(&counters,
              image.data() + layout.header.thread_offset + thread * sizeof(ThreadOutcome),
              sizeof(ThreadOutcome));
  if (counters.transactions != layout.transactions[thread]) {
    return misfit(thread, std::to_string(counters.transactions) + " transactions of " +
                              std::to_string(layout.transactions[thread]));
  }
  if (counters.trace_bytes > span.trace_capacity) {
    return misfit(thread, "more evidence than there is room for");
  }
  if (counters.events > span.log_capacity || counters.events_full > 1) {
    return misfit(thread, "more recorded calls than there is room for");
  }
  if (counters.window_shift < kWindowShiftMin || counters.window_shift >= 64) {
    return misfit(thread, "an impossible window width");
  }
  Result<std::vector<TransactionEnd>> ends =
      read_ends(image.data() + span.ends_offset, thread, counters);
  if (!ends) return ends.error();
  result.ends = std::move(*ends);
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
  KEYDROME_CHECK(threads <= kThreadsMax && phase.trace_capacity_bytes.size() == threads);
  OutcomeLayout layout;
  layout.header.version = kOutcomeVersion;
  layout.header.threads = static_cast<uint32_t>(threads);
  layout.header.thread_offset = aligned(sizeof(OutcomeHeader));
  uint64_t offset = layout.header.thread_offset + threads * sizeof(ThreadOutcome);
  for (std::size_t t = 0; t < threads; ++t) {
    OutcomeHeader::Span& span = layout.header.spans[t];
    layout.transactions.push_back(count_transactions(phase.threads[t]));
    span.ends_capacity = layout.transactions.back();
    span.ends_offset = offset;
    offset = aligned(offset + span.ends_capacity);
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
    return Error{"the outcome memfd is smaller than it was made"};
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
  TraceRecord record{};
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

}  // namespace keydrome
