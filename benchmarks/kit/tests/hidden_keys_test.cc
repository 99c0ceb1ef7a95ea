// Tests hidden keys (format/hidden_key.h): gets whose keys a library learns only from its answers.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/kit/format/hidden_key.h"
#include "benchmarks/kit/format/piece.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/log_judge.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/tests/play.h"
#include "benchmarks/kit/tests/test_index.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::testing {
namespace {

constexpr uint32_t kRecords = 512, kTransactions = 4'000, kGets = 5, kThreads = 2;

// Writes a script whose transactions make several hidden gets, with gets of open keys between them
// if `mixed`. Half of the payloads have a text, so that some windows would reach beyond the others.
script::Script long_transactions(bool mixed) {
  script::ScriptBuilder script;
  script.add_class("all");
  const uint32_t index = script.add_index("numbers", INT);
  const uint32_t text = script.add_text("a text of more than twenty bytes");
  script.hide_bits(kRecords - 1);
  script::ThreadBuilder load = script.thread(script.add_phase("load", 1, {}), 0);
  load.create(index);
  load.open(0, index);
  for (uint32_t i = 0; i < kRecords; ++i)
    load.insert(0, script.add_int64_key(i),
                script.new_payload(i % 2 == 0 ? text : script::kNoText));
  load.close(0);
  const uint32_t phase = script.add_phase("run", kThreads, {.timed = true});
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    workload::Rng rng(1, thread, workload::Purpose::kStream);
    script::ThreadBuilder out = script.thread(phase, thread);
    out.open(0, index);
    for (uint32_t i = 0; i < kTransactions; ++i) {
      out.begin(format::Kind::kStream, 0);
      for (uint32_t get = 0; get < kGets; ++get) {
        out.get_hidden(0, static_cast<uint32_t>(rng.below(kRecords)));
        if (mixed && get % 2 == 0) out.get(0, static_cast<uint32_t>(rng.below(kRecords)));
      }
      out.commit();
    }
    out.close(0);
  }
  return script.build();
}

// A transaction that is repeated asks for the same keys again, wherever DEADLOCK interrupted it,
// and whether the words of the failed attempt stay or are overwritten.
TEST(HiddenKeys, ARepeatedTransactionAsksForTheSameKeys) {
  const script::Script script = long_transactions(true);
  uint64_t overwritten = 0;
  for (const uint32_t every : {0u, 1'009u, 97u, 31u, 13u}) {
    SCOPED_TRACE("DEADLOCK every " + std::to_string(every));
    const script::Outcome outcome = play(script, test_index({.deadlock_every = every}));
    judge::Findings findings;
    judge::judge_script(script, outcome, findings);
    EXPECT_TRUE(findings.empty()) << text_of(findings);
    const judge::Totals sum = judge::totals(script, outcome);
    EXPECT_EQ(sum.transactions_completed, sum.transactions_planned);
    EXPECT_EQ(sum.get_hits, sum.gets);
    for (const script::ThreadResult& thread : outcome.phases[1].threads)
      overwritten += thread.reported->attempts_overwritten;
  }
  EXPECT_GT(overwritten, 0u);
}

// A wrong answer makes the later keys wrong, too. The answers for these keys are not reported. If
// the calls are logged, the log is not called forged because of the wrong keys.
TEST(HiddenKeys, AnswersForWrongKeysAreNotReported) {
  script::Script script = long_transactions(false);
  script::record_all(script);
  const script::Outcome outcome = play(script, test_index({.misses_everything = true}));
  judge::Findings findings;
  judge::judge_script(script, outcome, findings);
  EXPECT_TRUE(findings.failed());
  const std::size_t missing = findings.count("missing_record");
  // A wrong answer hides the next key with the right bits with a probability of 1 / kRecords.
  EXPECT_GE(missing, kThreads);
  EXPECT_LT(missing, 4 * kThreads * kTransactions * kGets / kRecords) << text_of(findings);
  judge::Findings of_logs;
  EXPECT_TRUE(judge::judge_logs(script, outcome, of_logs));
  EXPECT_TRUE(of_logs.empty()) << text_of(of_logs);
}

// Without the answers, the keys of a piece (the part of a program that the player receives at once)
// differ from the true ones. With the right answers, they can be computed.
TEST(HiddenKeys, APieceHidesTheKeys) {
  const script::Script script = long_transactions(true);
  const script::PieceWriter writer(script);
  const std::vector<format::Op>& ops = script.phases[1].threads[0];
  const std::vector<std::byte> piece = writer.write(ops, true);
  const auto* const header = reinterpret_cast<const format::PieceHeader*>(piece.data());
  const auto* const sent = reinterpret_cast<const format::Op*>(piece.data() + header->op_offset);
  const auto* const keys = reinterpret_cast<const int64_t*>(piece.data() + header->int64_offset);
  uint32_t hidden = 0, same = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].code != format::OpCode::kGet) continue;
    const int64_t wanted = script.pools.int64_keys[ops[i].key];
    const bool is_hidden = (ops[i].flags & format::kHidden) != 0;
    EXPECT_EQ((sent[i].flags & format::kHidden) != 0, is_hidden);
    EXPECT_EQ(sent[i].argument, is_hidden ? kRecords - 1 : 0u);
    EXPECT_EQ(keys[sent[i].key] ^ (is_hidden ? int64_t{ops[i].argument} : 0), wanted);
    if (!is_hidden) continue;
    ++hidden;
    same += keys[sent[i].key] == wanted ? 1 : 0;
  }
  EXPECT_EQ(hidden, kTransactions * kGets);
  // The expected number is hidden / kRecords = 39.
  EXPECT_LT(same, 80u);
}

}  // namespace
}  // namespace keydrome::testing
