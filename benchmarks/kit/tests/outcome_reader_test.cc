// Tests the reader of the outcome memfd, in which the player (the process that calls the library)
// writes its results. The reader must accept what the player writes, and refuse anything that does
// not fit the program.
#include "benchmarks/kit/script/outcome_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "benchmarks/kit/format/control_word.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/player/trace_writer.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

// Returns a script with one phase and one thread that runs two transactions.
script::Script two_transactions() {
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
  return script.build();
}

// The words of an honest thread, in the order of the program. A word is 8 bytes that report a call.
std::vector<uint64_t> honest_words() {
  using format::CallWord;
  using format::ControlWord;
  using history::EventCall;
  const uint64_t found_nothing = format::code_word(KEY_NOTFOUND);
  return {CallWord{.call = EventCall::kOpen}.packed(ControlWord::kRareCall),
          format::code_word(SUCCESS),
          format::result_word(ControlWord::kResult, 10, SUCCESS),
          found_nothing,
          format::result_word(ControlWord::kResult, 20, SUCCESS),
          format::result_word(ControlWord::kResult, 20, SUCCESS),
          found_nothing,
          format::result_word(ControlWord::kResult, 30, SUCCESS),
          CallWord{.call = EventCall::kClose}.packed(ControlWord::kRareCall),
          format::code_word(SUCCESS)};
}

// Reads an image of an outcome after `change` has damaged it. Without the damage, the image is
// valid.
Result<script::PhaseOutcome> read(
    const std::function<void(format::ThreadOutcome&, std::vector<uint64_t>& words)>& change) {
  script::Script script = two_transactions();
  const script::PhaseScript& phase = script.phases[0];
  const script::OutcomeLayout layout = script::outcome_layout(phase, script.pools);
  std::vector<std::byte> image(layout.size_bytes);
  script::write_outcome_header(layout, image);
  format::ThreadOutcome reported{};
  std::vector<uint64_t> words = honest_words();
  reported.words = words.size();
  reported.ended_ticks = 1'000;
  change(reported, words);
  std::memcpy(image.data() + layout.header.thread_offset, &reported, sizeof reported);
  std::memcpy(image.data() + layout.header.spans[0].words_offset, words.data(),
              words.size() * sizeof(uint64_t));
  return script::read_outcome(image, layout, script, phase);
}

TEST(OutcomeReader, TakesAnHonestImage) {
  const Result<script::PhaseOutcome> outcome =
      read([](format::ThreadOutcome&, std::vector<uint64_t>&) {});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  const script::ThreadResult& thread = outcome->threads[0];
  EXPECT_EQ(thread.ends, std::vector(2, script::TransactionEnd::kCommitted));
  EXPECT_EQ(thread.words, std::vector(2, format::code_word(KEY_NOTFOUND)));
  EXPECT_EQ(thread.totals.committed[0], 2u);
  EXPECT_EQ(thread.totals.calls, 8u);
}

TEST(OutcomeReader, RefusesWhatDoesNotFit) {
  using Reported = format::ThreadOutcome;
  using Words = std::vector<uint64_t>;
  using format::ControlWord;
  const std::vector<std::function<void(Reported&, Words&)>> lies = {
      [](Reported& o, Words&) { o.words = UINT64_MAX; },
      [](Reported& o, Words&) { --o.words; },
      [](Reported& o, Words&) { ++o.words; },
      [](Reported& o, Words&) { o.words = 0; },
      [](Reported& o, Words&) { o.trace_bytes = UINT64_MAX; },
      [](Reported& o, Words&) { o.events = 1; },
      [](Reported&, Words& w) { w[3] = 0; },
      [](Reported&, Words& w) { w.erase(w.begin() + 3); },
      [](Reported&, Words& w) { std::swap(w[2], w[3]); },
      // a transaction that begins or ends long after the thread has ended
      [](Reported&, Words& w) { w[2] = format::result_word(ControlWord::kResult, 1ull << 40, 0); },
      [](Reported&, Words& w) { w[7] = format::result_word(ControlWord::kResult, 1ull << 40, 0); },
      // ends that the program does not contain
      [](Reported&, Words& w) { w[4] = format::result_word(ControlWord::kAbort, 20, 0); },
      [](Reported&, Words& w) { w[4] = format::attempt_end_word(format::AttemptEnd::kAborted); },
      [](Reported&, Words& w) { w[4] = format::attempt_end_word(format::AttemptEnd::kDeadlocked); },
      [](Reported&, Words& w) { w[4] = format::attempt_end_word(format::AttemptEnd::kContinued); },
      // a call of another index
      [](Reported&, Words& w) { w[0] |= uint64_t{1} << 32; },
  };
  for (std::size_t i = 0; i < lies.size(); ++i) EXPECT_FALSE(read(lies[i]).ok()) << i;
}

// The library can write anything to the memory. The reader must end and keep within its bounds.
TEST(OutcomeReader, SurvivesRandomWords) {
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    workload::Rng rng(seed, 0, workload::Purpose::kStream);
    const Result<script::PhaseOutcome> outcome =
        read([&](format::ThreadOutcome& reported, std::vector<uint64_t>& words) {
          for (uint64_t changes = 1 + rng.below(4); changes > 0; --changes) {
            const std::size_t at = rng.below(words.size());
            const uint64_t low[] = {0x10, 0xb0, 0xc0, 0xd0, 0xda, 0xe0, 0xe1, 0xe2, 0xe3,
                                    0xe4, 0xe8, 0xe9, 0xea, 0xeb, 0xec, 0xf0, 0xfa, rng.next()};
            words[at] = (rng.below(2) == 0 ? words[at] & ~0xffull : rng.next() << 8) |
                        low[rng.below(std::size(low))];
            if (rng.below(3) == 0)
              words.insert(words.begin() + static_cast<int64_t>(at), words[at]);
          }
          reported.words = words.size();
        });
    if (outcome.ok()) {
      EXPECT_LE(outcome->threads[0].words.size(), 2u);
    }
  }
}

TEST(OutcomeReader, ATruncatedImageIsAnError) {
  const script::Script script = two_transactions();
  const script::OutcomeLayout layout = script::outcome_layout(script.phases[0], script.pools);
  const std::vector<std::byte> image(layout.size_bytes - 1);
  EXPECT_FALSE(script::read_outcome(image, layout, script, script.phases[0]).ok());
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

// A script that inserts records into an index of integers and one of strings, and then scans both.
class CopiedTrace : public ::testing::Test {
 protected:
  static constexpr uint32_t kKeys = 20;

  CopiedTrace() {
    script::ScriptBuilder builder;
    builder.add_class("check");
    const std::array<uint32_t, 2> indexes = {builder.add_index("integers", INT),
                                             builder.add_index("strings", VARCHAR)};
    script::ThreadBuilder load = builder.thread(builder.add_phase("load", 1, {}), 0);
    for (uint32_t key = 0; key < kKeys; ++key) {
      builder.add_int64_key(key);
      builder.add_varchar_key("key " + std::to_string(key));
    }
    for (const uint32_t index : indexes) {
      load.open(0, index);
      for (uint32_t key = 0; key < kKeys; ++key) {
        const script::Payload payload =
            builder.new_payload(builder.add_text("text " + std::to_string(key)));
        inserted_.push_back({.key = key, .text = payload.text, .tag = payload.tag});
        load.auto_commit_as(format::Kind::kScript, 0);
        load.insert(0, key, payload);
      }
      load.close(0);
    }
    script::add_verify_phase(builder, 1, 0, "verify");
    script_ = builder.build();
  }

  std::span<const format::Op> scans() const { return script_.phases.back().threads[0]; }

  // Writes what a correct library returns to the scans.
  std::vector<std::byte> right() const {
    std::vector<std::byte> bytes(1 << 16);
    player::TraceWriter writer(bytes);
    uint32_t index = 0;
    for (uint64_t op = 0; op < scans().size(); ++op) {
      if (scans()[op].code == format::OpCode::kOpen) index = scans()[op].argument;
      if (scans()[op].code != format::OpCode::kNextToEnd) continue;
      for (uint32_t i = 0; i < kKeys; ++i)
        append(writer, op, i, index, inserted_[index * kKeys + i]);
      writer.append(op, kKeys, DB_END, {}, {});
    }
    bytes.resize(writer.position());
    return bytes;
  }

  void append(player::TraceWriter& writer, uint64_t op, uint64_t repetition, uint32_t index,
              const script::InsertedRecord& record) const {
    const int64_t number = record.key;
    std::array<char, format::kTagBytes> tag{};
    format::write_tag(record.tag, tag.data());
    const std::string_view key =
        index == 0 ? std::string_view(reinterpret_cast<const char*>(&number), sizeof number)
                   : script_.pools.varchar_keys[record.key];
    writer.append(
        op, repetition, SUCCESS, key,
        std::string(tag.data(), tag.size()) + std::string(script_.pools.payloads[record.text]));
  }

  // A run is a series of inserted records that a copied trace stores as numbers. Checks that a copy
  // with runs gives the same evidence as a copy without runs. Returns how many records of the first
  // copy are in runs.
  std::size_t expect_same(std::span<const std::byte> bytes) const {
    const script::InsertedRecords table(script_);
    const script::Trace shortened = script::copy_trace(bytes, scans(), script_, &table);
    const script::Trace whole = script::copy_trace(bytes, scans(), script_, nullptr);
    script::EvidenceReader a(shortened), b(whole);
    script::Evidence in_a{}, in_b{};
    while (b.next(in_b)) {
      if (!a.next(in_a)) {
        ADD_FAILURE() << "a record is missing";
        return 0;
      }
      EXPECT_EQ(std::tie(in_a.op, in_a.repetition, in_a.code, in_a.key, in_a.payload),
                std::tie(in_b.op, in_b.repetition, in_b.code, in_b.key, in_b.payload));
      a.release();
    }
    EXPECT_FALSE(a.next(in_a));
    EXPECT_EQ(a.damaged(), b.damaged());
    return shortened.inserted.size();
  }

  script::Script script_;
  std::vector<script::InsertedRecord> inserted_;  // of the integers, then of the strings
};

TEST_F(CopiedTrace, KeepsTheRecordsOfTheScriptAsNumbers) {
  const std::vector<std::byte> bytes = right();
  EXPECT_EQ(expect_same(bytes), 2 * kKeys);
  const script::InsertedRecords table(script_);
  const script::Trace trace = script::copy_trace(bytes, scans(), script_, &table);
  EXPECT_EQ(trace.bytes.size(), 2 * sizeof(format::TraceRecord));  // both DB_END
  EXPECT_EQ(trace.runs.size(), 2u);
}

TEST_F(CopiedTrace, KeepsStringsUntilTheyAreReleased) {
  const script::InsertedRecords table(script_);
  const script::Trace trace = script::copy_trace(right(), scans(), script_, &table);
  script::EvidenceReader reader(trace);
  std::vector<script::Evidence> all;
  for (script::Evidence evidence{}; reader.next(evidence);) all.push_back(evidence);
  ASSERT_EQ(all.size(), 2 * kKeys + 2);
  EXPECT_EQ(all[0].payload.substr(format::kTagBytes), "text 0");
  EXPECT_EQ(all[kKeys].code, static_cast<uint32_t>(DB_END));
  EXPECT_EQ(all[2 * kKeys].key, "key 19");
  EXPECT_EQ(all[2 * kKeys].payload.substr(format::kTagBytes), "text 19");
}

// A record of another key, text, index or op must reach the judge as it is.
TEST_F(CopiedTrace, KeepsAnyOtherRecordWhole) {
  workload::Rng rng(1, 0, workload::Purpose::kStream);
  std::size_t whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = right();
    for (uint64_t changes = rng.below(3) + 1; changes > 0; --changes)
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.next());
    if (rng.below(4) == 0) bytes.resize(rng.below(bytes.size()));
    whole += expect_same(bytes) < 2 * kKeys ? 1 : 0;
  }
  EXPECT_GT(whole, 10'000u);
}

TEST_F(CopiedTrace, DoesNotTakeARecordForThatOfAnotherKey) {
  std::vector<std::byte> bytes(1 << 12);
  player::TraceWriter writer(bytes);
  const auto op = static_cast<uint64_t>(
      std::ranges::find(scans(), format::OpCode::kNextToEnd, &format::Op::code) - scans().begin());
  script::InsertedRecord other = inserted_[3];
  other.key = 4;
  append(writer, op, 0, 0, other);
  other = inserted_[3];
  other.text = inserted_[4].text;
  append(writer, op, 1, 0, other);
  other = inserted_[3];
  other.tag = inserted_.back().tag + 1;
  append(writer, op, 2, 0, other);
  append(writer, op + 1, 3, 0, inserted_[3]);  // not a scan
  bytes.resize(writer.position());
  EXPECT_EQ(expect_same(bytes), 0u);
}

}  // namespace
}  // namespace keydrome
