// Tests the reader of the outcome memfd: it must accept what the player writes and refuse anything
// that does not fit the program.
#include "benchmarks/kit/script/outcome_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "benchmarks/kit/player/trace_writer.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

// Returns a phase with one thread that runs two transactions.
script::PhaseScript two_transactions() {
  script::ScriptBuilder script;
  script.add_class("check");
  script.add_index("index", INT);
  script.add_int64_key(1);
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {}), 0);
  out.open(0, 0);
  for (int i = 0; i < 2; ++i) {
    out.begin(format::Kind::kStream, 0);
    out.get(0, 0, format::kEvidence);
    out.commit();
  }
  out.close(0);
  return script.build().phases[0];
}

// Reads an image of an outcome after `change` has damaged it. Without the damage, the image is
// valid.
Result<script::PhaseOutcome> read(
    const std::function<void(format::ThreadOutcome&, std::byte* ends, std::byte* trace)>& change) {
  const script::PhaseScript phase = two_transactions();
  const script::OutcomeLayout layout = script::outcome_layout(phase);
  std::vector<std::byte> image(layout.size_bytes);
  script::write_outcome_header(layout, image);
  format::ThreadOutcome counters{};
  counters.committed[0] = 2;
  counters.transactions = 2;
  counters.window_shift = format::kWindowShiftMin;
  std::byte* ends = image.data() + layout.header.spans[0].ends_offset;
  ends[0] = ends[1] = static_cast<std::byte>(format::TransactionEnd::kCommitted);
  change(counters, ends, image.data() + layout.header.spans[0].trace_offset);
  std::memcpy(image.data() + layout.header.thread_offset, &counters, sizeof counters);
  return script::read_outcome(image, layout);
}

TEST(OutcomeReader, TakesAnHonestImage) {
  const Result<script::PhaseOutcome> outcome =
      read([](format::ThreadOutcome&, std::byte*, std::byte*) {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->threads[0].ends.size(), 2u);
}

TEST(OutcomeReader, RefusesWhatDoesNotFit) {
  const std::vector<std::function<void(format::ThreadOutcome&, std::byte*, std::byte*)>> lies = {
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.transactions = 3; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.transactions = UINT64_MAX; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.trace_bytes = UINT64_MAX; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.window_shift = 64; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.window_shift = 0; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.committed[0] = 3; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.failed = 1; },
      [](format::ThreadOutcome& o, std::byte*, std::byte*) { o.deadlocked = 1; },
      [](format::ThreadOutcome&, std::byte* ends, std::byte*) { ends[1] = std::byte{4}; },
      [](format::ThreadOutcome&, std::byte* ends, std::byte*) { ends[1] = std::byte{9}; },
      [](format::ThreadOutcome&, std::byte* ends, std::byte*) { ends[1] = std::byte{0}; },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) EXPECT_FALSE(read(lies[i]).ok()) << i;
}

TEST(OutcomeReader, ATruncatedImageIsAnError) {
  const script::OutcomeLayout layout = script::outcome_layout(two_transactions());
  const std::vector<std::byte> image(layout.size_bytes - 1);
  EXPECT_FALSE(script::read_outcome(image, layout).ok());
}

TEST(TraceReader, GivesBackWhatWasWritten) {
  std::vector<std::byte> trace(1000);
  player::TraceWriter writer(trace);
  writer.append(3, 4, SUCCESS, "key", "payload");
  writer.append(5, 6, DB_END, {}, {});
  script::TraceReader reader(std::span<const std::byte>(trace).first(writer.position()));
  script::Evidence evidence{};
  ASSERT_TRUE(reader.next(evidence));
  EXPECT_EQ(evidence.op, 3u);
  EXPECT_EQ(evidence.repetition, 4u);
  EXPECT_EQ(evidence.key, "key");
  EXPECT_EQ(evidence.payload, "payload");
  ASSERT_TRUE(reader.next(evidence));
  EXPECT_EQ(evidence.code, static_cast<uint32_t>(DB_END));
  EXPECT_FALSE(reader.next(evidence));
  EXPECT_FALSE(reader.damaged());
}

TEST(TraceReader, StopsAtAnythingThatIsNoRecord) {
  workload::Rng rng(1, 0, workload::Purpose::kStream);
  for (int i = 0; i < 5'000; ++i) {
    std::vector<std::byte> bytes(rng.below(200));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
    script::TraceReader reader(bytes);
    script::Evidence evidence{};
    std::size_t records = 0;
    while (reader.next(evidence)) ++records;
    EXPECT_LE(records * sizeof(format::TraceRecord), bytes.size());
  }
}

TEST(TraceWriter, CountsWhatDoesNotFit) {
  std::vector<std::byte> trace(format::trace_record_bytes(3, 7));
  player::TraceWriter writer(trace);
  writer.append(1, 0, SUCCESS, "key", "payload");
  writer.append(2, 0, SUCCESS, {}, {});
  EXPECT_EQ(writer.position(), trace.size());
  EXPECT_EQ(writer.dropped(), 1u);
}

}  // namespace
}  // namespace keydrome
