// Tests history_file.h, which reads and writes histories (the recorded calls of a run). A history
// written to a file must be read back unchanged. Damaged or forged files must be refused, or judged
// without a crash.
#include "checker/history/history_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "checker/certify/certify.h"
#include "checker/history/calls.h"
#include "checker/tests/random_history.h"
#include "checker/witness/report.h"

namespace keydrome {

using certify::Certification;
using certify::Verdict;
using history::Event;
using history::EventCall;
using history::History;
using history::kUnknownKeyRank;

namespace {

class HistoryFile : public testing::Test {
 protected:
  HistoryFile() : path_(testing::TempDir() + "keydrome-history-" + std::to_string(getpid())) {}
  ~HistoryFile() override { std::filesystem::remove(path_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  // Returns a history that has a VARCHAR index with hashes as keys, and a thread that is empty
  // because its log was full.
  static History sample() {
    History history = random_history(7);
    history.indexes[1] = {VARCHAR, "words"};
    history.varchar_keys = {"one", "", "three"};
    for (auto& events : history.threads) {
      for (Event& event : events) {
        if (event.index == 1) event.key = hash_bytes("one");
      }
    }
    history.threads.emplace_back();
    history.truncated_threads = {3};
    history.timestamp_slack = 40;
    history.ticks_per_s = 2'100'000'000;
    return history;
  }

  const std::string path_;
};

TEST_F(HistoryFile, ReadsWhatWasWritten) {
  const History history = sample();
  ASSERT_TRUE(write_history(history, path_).ok());
  const Result<History> back = history::read_history(path_);
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->threads.size(), history.threads.size());
  for (std::size_t i = 0; i < history.threads.size(); ++i) {
    ASSERT_EQ(back->threads[i].size(), history.threads[i].size());
    for (std::size_t j = 0; j < history.threads[i].size(); ++j) {
      EXPECT_EQ(std::memcmp(&back->threads[i][j], &history.threads[i][j], sizeof(Event)), 0);
    }
  }
  EXPECT_EQ(back->indexes[1].name, "words");
  EXPECT_EQ(back->indexes[1].type, VARCHAR);
  EXPECT_EQ(back->varchar_keys, history.varchar_keys);
  EXPECT_EQ(back->truncated_threads, history.truncated_threads);
  EXPECT_EQ(back->timestamp_slack, history.timestamp_slack);
  EXPECT_EQ(back->ticks_per_s, history.ticks_per_s);
}

// Certifies random histories, writes them to a file, reads them back and certifies them again. Both
// reports must be equal, including their witnesses (the few calls that prove a violation) and C
// programs.
TEST_F(HistoryFile, IsJudgedLikeTheHistoryInMemory) {
  std::size_t violations = 0;
  for (uint64_t seed = 1; seed <= rounds(300); ++seed) {
    History history = random_history(seed);
    history.ticks_per_s = 3'000'000'000;
    ASSERT_TRUE(write_history(history, path_).ok());
    const Result<History> back = history::read_history(path_);
    ASSERT_TRUE(back.ok()) << back.error().message;
    const Certification found = certify::certify(history);
    violations += found.violations.size();
    EXPECT_EQ(witness::json_report(*back, certify::certify(*back)).dump(),
              witness::json_report(history, found).dump())
        << "seed " << seed;
  }
  EXPECT_GE(violations, rounds(300) / 30);
}

// Changes bytes of the tables and then corrects the checksum, as a hostile recorder can. So the
// reader must not trust the sizes and numbers in a file with a right checksum.
TEST_F(HistoryFile, DamageWithARightChecksumIsRefusedOrJudged) {
  ASSERT_TRUE(write_history(sample(), path_).ok());
  const std::string whole = bytes();
  uint64_t table_bytes = 0;
  std::memcpy(&table_bytes, whole.data() + 32, sizeof table_bytes);
  std::size_t refused = 0;
  for (std::size_t at = 12; at < table_bytes - 8; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string forged = whole;
      forged[at] = static_cast<char>(forged[at] ^ mask);
      const uint64_t checksum = hash_bytes(std::string_view(forged).substr(0, table_bytes - 8));
      std::memcpy(forged.data() + table_bytes - 8, &checksum, sizeof checksum);
      put(forged);
      Result<History> back = history::read_history(path_);
      if (!back || !rank_varchar_keys(*back)) {
        ++refused;
        continue;
      }
      const Certification found = certify::certify(*back);
      EXPECT_TRUE(found.verdict == Verdict::kCertified || found.verdict == Verdict::kViolation ||
                  !found.reason.empty())
          << at;
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(HistoryFile, AClockWithoutTicksIsAnError) {
  History history = sample();
  history.ticks_per_s = 0;
  ASSERT_TRUE(write_history(history, path_).ok());
  EXPECT_NE(history::read_history(path_).error().message.find("clock"), std::string::npos);
}

TEST_F(HistoryFile, EveryTruncationIsAnError) {
  ASSERT_TRUE(write_history(sample(), path_).ok());
  const std::string whole = bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    const Result<History> back = history::read_history(path_);
    ASSERT_FALSE(back.ok()) << size;
    EXPECT_NE(back.error().message, "");
  }
  put(whole + "x");
  EXPECT_FALSE(history::read_history(path_).ok());
}

TEST_F(HistoryFile, EveryFlippedBitIsAnError) {
  ASSERT_TRUE(write_history(sample(), path_).ok());
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ mask);
      put(flipped);
      ASSERT_FALSE(history::read_history(path_).ok()) << at << " " << mask;
    }
  }
}

TEST_F(HistoryFile, AMissingFileIsAnError) {
  EXPECT_NE(history::read_history("/nonexistent/history").error().message.find("cannot open"),
            std::string::npos);
}

TEST(RankVarcharKeys, ReplacesHashesByRanks) {
  History history;
  history.indexes = {{VARCHAR, "words"}, {INT, "numbers"}};
  history.varchar_keys = {"b", "", "ab", "b"};
  const auto event = [](EventCall call, uint16_t index, uint64_t key) {
    return Event{static_cast<uint8_t>(call), SUCCESS, index, 0, key, 0, 1};
  };
  history.threads = {{event(EventCall::kGet, 0, hash_bytes("b")),
                      event(EventCall::kGet, 1, hash_bytes("b")),
                      event(EventCall::kNext, 0, hash_bytes("")),
                      event(EventCall::kNext, 0, hash_bytes("unknown"))}};
  ASSERT_TRUE(rank_varchar_keys(history).ok());
  EXPECT_EQ(history.threads[0][0].key, 2u);
  EXPECT_EQ(history.threads[0][1].key, hash_bytes("b"));
  EXPECT_EQ(history.threads[0][2].key, 0u);
  EXPECT_EQ(history.threads[0][3].key, kUnknownKeyRank);
  ASSERT_EQ(history.unknown_keys.size(), 1u);
  EXPECT_EQ(history.unknown_keys[0].position, 3u);
  EXPECT_EQ(key_text(history, 0, 1), "\"ab\"");

  History passed;
  passed.indexes = {{VARCHAR, "words"}};
  passed.threads = {{event(EventCall::kGet, 0, 5), event(EventCall::kInsert, 0, 6)}};
  ASSERT_TRUE(rank_varchar_keys(passed).ok());
  EXPECT_EQ(passed.threads[0][1].key, kUnknownKeyRank);
  ASSERT_EQ(passed.unknown_arguments.size(), 2u);
  EXPECT_EQ(passed.unknown_arguments[1].position, 1u);
  EXPECT_EQ(passed.unknown_arguments[1].hash, 6u);
}

TEST(UntrustedEvents, TheIndexFieldOfACallWithoutIndexIsNeverUsed) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    History history = random_history(seed);
    const Verdict verdict = certify::certify(history).verdict;
    for (auto& events : history.threads) {
      for (Event& event : events) {
        const EventCall call = call_of(event);
        const bool has_none =
            call == EventCall::kBegin || call == EventCall::kCommit || call == EventCall::kAbort;
        if (has_none) event.index = 0xffff;
      }
    }
    EXPECT_EQ(certify::certify(history).verdict, verdict) << "seed " << seed;
  }
}

TEST(UntrustedEvents, AfterATruncatedLogAreCheckedToo) {
  History history = random_history(7);
  history.truncated_threads = {0};
  history.threads[0].resize(1);
  history.threads[1].back().call = static_cast<uint8_t>(EventCall::kGet);
  history.threads[1].back().index = 0xffff;
  EXPECT_EQ(certify::certify(history).verdict, Verdict::kCouldNotJudge);
}

// Flips random bits of events. A hostile recorder can write any events, and the reader accepts
// them, so certify() must not crash on any event.
TEST(UntrustedEvents, AreJudgedOrRefusedButNeverTrusted) {
  for (uint64_t seed = 1; seed <= rounds(3000); ++seed) {
    History history = random_history(seed);
    for (uint64_t i = 0; i <= seed % 3; ++i) {
      const uint64_t dice = hash_mix(seed, i);
      auto& events = history.threads[dice % history.threads.size()];
      if (events.empty()) continue;
      auto* event = reinterpret_cast<uint8_t*>(&events[(dice >> 8) % events.size()]);
      uint8_t& byte = event[(dice >> 20) % sizeof(Event)];
      byte = static_cast<uint8_t>(byte ^ (1u << (dice >> 32) % 8));
    }
    if (seed % 2 == 0) history.truncated_threads = {static_cast<uint32_t>(seed % 3)};
    const Certification found = certify::certify(history);
    if (found.verdict == Verdict::kViolation) {
      EXPECT_FALSE(found.violations.empty());
    } else if (found.verdict != Verdict::kCertified) {
      EXPECT_NE(found.reason, "") << seed;
    }
  }
}

}  // namespace
}  // namespace keydrome
