// Tests the reader of traces, files with the recorded calls of a user's program. Traces must be
// read as they are written, and every kind of wrong trace must be refused with line and column.
#include "benchmarks/kit/workload/trace_file/trace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <string>

#include "base/json.h"

namespace keydrome::testing {
namespace {

using workload::parse_trace;
using workload::read_trace_file;
using workload::TraceFile;
using What = workload::TraceCall::What;

constexpr const char* kStart =
    "keydrome trace 1\nindex a int64\nindex s varchar\nload a 1\nload s x\n";

class TraceFiles : public ::testing::Test {
 protected:
  TraceFiles() { std::filesystem::create_directories(folder_); }
  ~TraceFiles() override { std::filesystem::remove_all(folder_); }

  Result<TraceFile> read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return read_trace_file(path_);
  }

  std::string folder_ = ::testing::TempDir() + "trace_file_test." + std::to_string(getpid());
  std::string path_ = folder_ + "/trace";
};

// tests/test_trace_files.py reads the same traces with the command `trace` of the referee, the
// program that runs sessions.
TEST_F(TraceFiles, TheGoldenTracesAreReadOrRefused) {
  const Result<Json> golden =
      Json::parse_file(KEYDROME_SOURCE_DIR "/benchmarks/kit/tests/vectors/traces.json");
  ASSERT_TRUE(golden.ok()) << golden.error().message;
  std::size_t right = 0, wrong = 0;
  for (const Json& golden_trace : golden->find("traces")->as_array()) {
    const std::string name = golden_trace.string_member("name").value();
    const std::string text = golden_trace.string_member("text").value();
    const std::string error = golden_trace.string_member("error").value();
    const Result<TraceFile> trace = read(text);
    ++(error.empty() ? right : wrong);
    EXPECT_EQ(trace.ok(), error.empty()) << name << (trace ? "" : trace.error().message);
    EXPECT_EQ(parse_trace(path_, text).ok(), trace.ok()) << name;
    if (trace.ok() || error.empty()) continue;
    EXPECT_TRUE(trace.error().message.starts_with(path_ + ", " + error))
        << name << ": " << trace.error().message << " is not " << error;
    EXPECT_EQ(parse_trace(path_, text).error().message, trace.error().message) << name;
  }
  EXPECT_GE(right, 3u);
  EXPECT_GE(wrong, 30u);
}

TEST_F(TraceFiles, CallsKeysAndPayloadsAreThoseOfTheFile) {
  const Result<TraceFile> read_trace = read(
      "keydrome trace 1\nindex users varchar\nindex ages int64\nindex small int32\n"
      "load users alice A%20text\nload ages 7\n"
      "0 begin\n0 get users alice\n0 next users 10\n0 insert ages 7\n0 commit\n"
      "1 delete users alice A%20text\n1 delete users alice\n1 insert users alice A%20text\n"
      "0 get small 2147483647\n");
  ASSERT_TRUE(read_trace.ok()) << read_trace.error().message;
  const TraceFile& trace = *read_trace;
  ASSERT_EQ(trace.indexes.size(), 3u);
  EXPECT_EQ(trace.indexes[1].name, "ages");
  EXPECT_EQ(trace.indexes[1].type, INT);
  EXPECT_EQ(trace.varchar_keys, (script::Strings{"alice"}));
  EXPECT_EQ(trace.int64_keys, std::vector<int64_t>{7});
  EXPECT_EQ(trace.int32_keys, std::vector<int32_t>{INT32_MAX});
  EXPECT_EQ(trace.payloads, (script::Strings{"A text"}));
  // The loaded user, the loaded age, and the age that thread 0 inserts: each line without a payload
  // inserts a pair of its own.
  ASSERT_EQ(trace.pairs.size(), 3u);
  EXPECT_EQ(trace.pairs[0].inserts, 2u);
  EXPECT_EQ(trace.pairs[1].inserts, 1u);
  EXPECT_EQ(trace.pairs[2].inserts, 1u);
  ASSERT_EQ(trace.threads.size(), 2u);
  const auto kinds = [](const std::vector<workload::TraceCall>& calls) {
    std::vector<What> all;
    for (const workload::TraceCall& call : calls) all.push_back(call.what);
    return all;
  };
  EXPECT_EQ(kinds(trace.threads[0]), (std::vector{What::kBegin, What::kGet, What::kNext,
                                                  What::kInsert, What::kCommit, What::kGet}));
  EXPECT_EQ(kinds(trace.threads[1]),
            (std::vector{What::kDeletePair, What::kDeleteKey, What::kInsert}));
  EXPECT_EQ(trace.threads[0][2].key, 10u);
  EXPECT_EQ(trace.threads[1][0].pair, trace.threads[1][2].pair);
  EXPECT_EQ(trace.counts.transactions, 1u);
  EXPECT_EQ(trace.counts.single_calls, 4u);
  EXPECT_EQ(trace.counts.lines, 3u);
  EXPECT_EQ(trace.counts.stored_keys, 2u);
  EXPECT_EQ(trace.counts.longest_bytes, 16u);
}

TEST_F(TraceFiles, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const std::pair<std::string, const char*> cases[] = {
      {path_, ": is a device or a pipe"},
      {"/dev/zero", ": is a device or a pipe"},
      {folder_, ": is a directory"},
      {folder_ + "/none", ": cannot be read (No such file or directory): give another trace"},
  };
  for (const auto& [path, words] : cases) {
    EXPECT_TRUE(read_trace_file(path).error().message.starts_with(path + words)) << path;
    EXPECT_TRUE(workload::trace_file_bytes(path).error().message.starts_with(path + words));
  }
}

// A file of zeros, and a line without an end, are refused after the first block of the file has
// been read, however long the file is.
TEST_F(TraceFiles, HugeFilesAreRefusedAtTheirBeginning) {
  for (const std::string& begin : {std::string(), std::string(kStart) + "0 get s "}) {
    std::ofstream(path_, std::ios::binary) << begin;
    std::filesystem::resize_file(path_, uint64_t{1} << 40);
    const std::string message = read_trace_file(path_).error().message;
    EXPECT_NE(message.find("column 1025: the line has more than 1024 bytes"), std::string::npos)
        << message;
  }
}

// Lines cross the borders of the blocks in which a file is read.
TEST_F(TraceFiles, LongFilesAreReadInBlocks) {
  std::string text = kStart;
  constexpr int kLines = 60'000;
  for (int i = 0; i < kLines; ++i) {
    text += std::to_string(i % 3) + " insert s key" + std::to_string(i) + std::string(i % 90, 'k') +
            " payload" + std::to_string(i % 7) + "\n";
  }
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  const Result<TraceFile> trace = read(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->counts.inserts, kLines);
  EXPECT_EQ(trace->varchar_keys.size(), kLines + std::size_t{1});
  EXPECT_EQ(trace->payloads.size(), 7u);
  EXPECT_EQ(trace->varchar_keys[kLines], "key59999" + std::string(59'999 % 90, 'k'));
}

TEST_F(TraceFiles, TheMemoryOfATraceIsWithinItsBound) {
  std::string text = "keydrome trace 1\nindex a int64\n";
  for (int i = 0; i < 50'000; ++i) text += "0 insert a " + std::to_string(i) + "\n";
  const Result<TraceFile> trace = read(text);
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_LE(trace->bytes(), workload::trace_file_bytes(path_).value() / 2);
}

// Random changes of right traces: each is refused with line and column, or has as many calls as
// lines.
TEST_F(TraceFiles, NoContentIsMisread) {
  std::mt19937_64 rng(2026);
  std::printf("seed 2026\n");
  const std::string whole = std::string(kStart) +
                            "0 begin\n0 get s x\n0 next s 5\n0 insert s y%20z p\n0 commit\n"
                            "1 delete a 1\n1 insert a 2 q\n1 delete a 2 q\n";
  const std::regex place(", line [1-9][0-9]*, column [1-9][0-9]*: ");
  std::size_t accepted = 0, refused = 0;
  for (int trial = 0; trial < 4'000; ++trial) {
    std::string content = whole;
    for (uint64_t changes = rng() % 4; changes > 0; --changes) {
      const std::size_t at = rng() % content.size();
      if (rng() % 2 == 0)
        content[at] = static_cast<char>(rng() % 2 == 0 ? rng() : ' ' + rng() % 95);
      if (rng() % 8 == 0) content.erase(at, 1 + rng() % 8);
      if (rng() % 8 == 0) content.insert(at, content.substr(rng() % content.size(), rng() % 20));
      if (content.empty()) content = "x";
    }
    const Result<TraceFile> trace = parse_trace("t", content);
    ++(trace.ok() ? accepted : refused);
    if (!trace.ok()) {
      ASSERT_TRUE(std::regex_search(trace.error().message, place)) << trace.error().message;
      continue;
    }
    const workload::TraceCounts& counts = trace->counts;
    std::size_t calls = trace->load.size() + trace->indexes.size() + 1;
    for (const auto& thread : trace->threads) calls += thread.size();
    std::size_t lines = 0;
    for (std::size_t from = 0; from < content.size();) {
      const std::size_t end = std::min(content.find('\n', from), content.size());
      const std::size_t first = content.find_first_not_of(" \t\r", from);
      lines += first < end && content[first] != '#' ? 1 : 0;
      from = end + 1;
    }
    ASSERT_EQ(calls, lines) << content;
    ASSERT_LE(counts.inserts + counts.deletes + counts.gets, calls);
  }
  EXPECT_GT(accepted, 400u);
  EXPECT_GT(refused, 400u);
}

}  // namespace
}  // namespace keydrome::testing
