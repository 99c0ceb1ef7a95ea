// Tests what each concurrency control promises in addition to isolation: which transaction waits
// for which, what is counted, and which old versions of records are removed. Further tests play a
// script for each known anomaly, call by call.
//
// A script is a list of words ACTOR:CALL, where an actor is a thread. For example, "1:b 1:g5
// 2:@d5*" means: actor 1 begins a transaction and gets key 5; then actor 2 deletes key 5 with
// auto-commit. parse_call in recorded_client.h lists the calls.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "checker/model/search_orders.h"
#include "runtime/codec/key_codec.h"
#include "runtime/configuration.h"
#include "runtime/instance/structure_library.h"
#include "runtime/tests/setup_json.h"
#include "runtime/tests/stage.h"
#include "runtime/tests/variants.h"

namespace keydrome::runtime {

using history::History;
using model::OrderSearch;

namespace {

// A concurrency control with two indexes over the B+-tree.
class World {
 public:
  explicit World(const std::string& concurrency, const std::string& lock = "rw")
      : structure_(*StructureLibrary::load(KEYDROME_BTREE)) {
    const Configuration configuration =
        parse_setup(setup_json(KEYDROME_BTREE, lock, concurrency))->configuration;
    strategy_ = make_strategy(configuration, structure_.table());
    concurrency_ = make_concurrency(configuration, structure_.table());
    for (std::unique_ptr<Index>& index : indexes_) {
      index = std::make_unique<Index>("index", INT, strategy_->make_store(key_bytes_of(INT)),
                                      concurrency_->make_index_concurrency());
    }
    stage_ = std::make_unique<Stage>(
        *concurrency_, std::array<Index*, 2>{indexes_[0].get(), indexes_[1].get()}, 4);
  }

  Stage& stage() { return *stage_; }
  // Plays the script and returns the result of the last call of the script's last actor.
  ErrCode play(const std::string& script) {
    stage_->play(script);
    const size_t colon = script.rfind(':');
    return stage_->result(static_cast<size_t>(script[colon - 1] - '0'));
  }
  // Makes an actor execute one call. The actor may have to wait.
  void step(size_t actor, const std::string& call) { stage_->step(actor, parse_call(call)); }
  int64_t counted(const std::string& name) const {
    return *concurrency_->statistics().int_member(name);
  }
  bool counts(const std::string& name) const {
    return concurrency_->statistics().find(name) != nullptr;
  }
  // Returns the number of pairs in the structure, old versions included.
  uint64_t pairs() const {
    const Store& store = indexes_[0]->store();
    Run run;
    KeydromeBytes key, payload;
    uint64_t pairs = 0;
    for (; run.peek(store, before_key(store.smallest_key()), key, payload) == 1; run.pass()) {
      ++pairs;
    }
    return pairs;
  }

 private:
  StructureLibrary structure_;
  std::unique_ptr<Strategy> strategy_;
  std::unique_ptr<Concurrency> concurrency_;
  std::array<std::unique_ptr<Index>, 2> indexes_;
  std::unique_ptr<Stage> stage_;
};

struct Anomaly {
  const char* name;
  const char* script;
};

// GoogleTest calls this function for its messages.
void PrintTo(const Anomaly& anomaly, std::ostream* out) { *out << anomaly.script; }

constexpr Anomaly kAnomalies[] = {
    {"SkewInAGap", "0:@i10=a 0:@i30=b 1:b 1:g10 1:n 2:b 2:g10 2:n 1:i20=x 2:i25=y 1:c 2:c"},
    {"SkewOnMissingKeys", "1:b 1:g1 2:b 2:g2 1:i2=x 2:i1=y 1:c 2:c"},
    {"SkewOnTheTail", "0:@i10=a 1:b 1:g10 1:n 2:b 2:g10 2:n 1:i20=x 2:i30=y 1:c 2:c"},
    {"SkewOnAnEmptyIndex", "1:b 1:n 2:b 2:n 1:i1=x 2:i2=y 1:c 2:c"},
    {"SkewOnTwoIndexes", "1:b 1:n 2:b 2:B.n 1:B.i1=x 2:i1=y 1:c 2:c"},
    {"SkewOnFailedDeletes", "1:b 1:d7* 2:b 2:d8* 1:i8=x 2:i7=y 1:c 2:c"},
    {"ReadOnlyAnomaly",
     "0:@i1=a 0:@i2=b 2:b 2:g1 2:g2 1:b 1:g2 1:d2=b 1:i2=c 1:c 3:b 3:g1 3:g2 3:c 2:d1=a 2:i1=d "
     "2:c"},
    {"LostUpdate", "0:@i1=v 1:b 1:g1 2:b 2:g1 1:d1=v 1:i1=x 1:c 2:d1=v 2:i1=y 2:c"},
    {"PhantomByDelete", "0:@i10=a 0:@i15=x 0:@i20=b 1:b 1:g10 1:n 1:n 2:@d15* 1:g10 1:n 1:n 1:c"},
    // The deletion of 20 relies on the gap before 30. Then 30 disappears, because its insertion is
    // undone.
    {"GapOfAKeyThatIsRolledBack",
     "0:@i10=a 0:@i20=k 0:@i50=b 1:b 1:i30=x 2:b 2:d20* 1:a 3:b 3:g10 3:n 3:n 2:a 3:c"},
    // A transaction that reads a gap and inserts into it still relies on both halves of the gap.
    {"GapCutByOneself", "0:@i50=b 1:b 1:n 1:i30=x 2:@i10=y 1:g0 1:n 1:n 1:c"},
    {"GapCutAfterADeletion",
     "0:@i10=a 0:@i20=k 0:@i50=b 1:b 1:d20* 1:i30=x 2:@i15=y 3:b 3:g10 3:n 3:n 3:c 1:a"},
    {"DeletedAndInsertedAgain", "0:@i20=k 1:b 1:d20* 1:i20=l 2:b 2:n 2:n 2:c 1:a 2:b 2:n 2:c"},
};

class Anomalies : public testing::TestWithParam<std::tuple<std::string, Anomaly>> {};

TEST_P(Anomalies, DoNotHappen) {
  World world(std::get<0>(GetParam()));
  world.play(std::get<1>(GetParam()).script);
  world.stage().scan_all(0);
  const History history = world.stage().history();
  const OrderSearch found = model::search_orders(history);
  ASSERT_EQ(found.problem, "");
  EXPECT_TRUE(found.order.has_value()) << show(history);
  EXPECT_TRUE(found.dirty_reads.empty()) << show(history);
}

constexpr auto kAnomalyName =
    [](const testing::TestParamInfo<std::tuple<std::string, Anomaly>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
    };
INSTANTIATE_TEST_SUITE_P(, Anomalies,
                         testing::Combine(testing::ValuesIn(isolating_methods()),
                                          testing::ValuesIn(kAnomalies)),
                         kAnomalyName);

TEST(Gap2pl, TransactionsOnDifferentKeysOfOneIndexDoNotWait) {
  World world("gap_2pl");
  world.play(
      "0:@i30=a 0:@i50=b 0:@i70=c 1:b 2:b 1:i10=x 2:i90=y 1:g20 2:g80 1:d30* 2:d70* 1:i15=x "
      "2:i95=y");
  EXPECT_EQ(world.counted("lock_waits"), 0);
  world.step(2, "i40=z");
  EXPECT_TRUE(world.stage().waits(2)) << "the deletion of 30 locks the gap before 50";
  world.play("1:c");
  EXPECT_EQ(world.play("2:c"), SUCCESS);
  EXPECT_GT(world.counted("locks"), 0);
}

TEST(Gap2pl, AnInserterWaitsForReadersOfTheGap) {
  for (const char* place : {"i20=x", "i5=x", "i99=x"}) {
    World world("gap_2pl");
    world.play("0:@i10=a 0:@i30=b 1:b 1:n 1:n 1:n 2:b");
    world.step(2, place);
    EXPECT_TRUE(world.stage().waits(2)) << place;
    EXPECT_EQ(world.play("1:c 2:c"), SUCCESS);
  }
}

// Two transactions read a key, and then both change it. So they deadlock, and actor 2 is the
// victim.
constexpr const char* kDeadlockOfReaders = "0:@i1=a 1:b 2:b 1:g1 2:g1 1:d1* 2:d1* 1:i1=b 1:c";

TEST(TwoPhase, ARepeatedTransactionLocksItsReadsExclusively) {
  for (const char* method : {"gap_2pl", "index_2pl"}) {
    World world(method);
    world.play(kDeadlockOfReaders);
    ASSERT_EQ(world.stage().result(2), DEADLOCK) << method;
    world.play("2:b 2:g1 3:b");
    world.step(3, "g1");
    EXPECT_TRUE(world.stage().waits(3)) << method << ": the read of actor 2 is exclusive";
    EXPECT_EQ(world.play("2:d1* 2:i1=c 2:c 3:d1* 3:c"), SUCCESS) << method;
    EXPECT_EQ(world.counted("deadlocks"), 1) << method;
    world.play("0:@i1=a 2:b 2:g1 3:b");
    world.step(3, "g1");
    EXPECT_FALSE(world.stage().waits(3)) << method << ": reads are shared after a commit";
    world.play("2:c 3:c");
  }
}

TEST(Gap2pl, ADeadlockOfTwoGapsHasOneVictim) {
  World world("gap_2pl");
  world.play("0:@i10=a 0:@i30=b 1:b 1:g10 1:n 2:b 2:g10 2:n 1:i20=x 2:i25=y 1:c 2:c");
  EXPECT_EQ(world.counted("deadlocks"), 1);
  world.play("3:b 3:n 3:n 3:n");
  EXPECT_EQ(world.play("3:n"), DB_END) << "one of the two keys was inserted";
}

// Deletes and inserts 80 keys seven times. After so many changes, the concurrency control `serial`
// cuts the index into ranges of keys. All keys exist afterwards.
void fill(World& world) {
  for (int round = 0; round < 7; ++round) {
    for (const char* call : {"d", "i"}) {
      world.step(0, "b");
      for (int key = 0; key < 80; ++key) {
        world.step(0, call + std::to_string(key) + (*call == 'd' ? "*" : "=x"));
      }
      world.step(0, "c");
    }
  }
}

TEST(Serial, RangesAreIndependentOnceTheIndexIsCut) {
  World world("serial");
  world.play("1:b 2:b 1:g1");
  world.step(2, "g70");
  EXPECT_TRUE(world.stage().waits(2)) << "the index is one range at first";
  world.play("1:c 2:c");
  fill(world);
  EXPECT_EQ(world.counted("cuts"), 1);
  const int64_t waits = world.counted("lock_waits");
  world.play("1:b 2:b 1:g1 2:g70 1:d1* 2:d70* 1:i1=y 2:i70=y 1:c 2:c");
  EXPECT_EQ(world.counted("lock_waits"), waits);
  world.play("1:b 1:i40=z 2:b 2:g35");
  while (!world.stage().waits(2)) {
    ASSERT_LT(world.counted("lock_waits"), waits + 2);
    ASSERT_EQ(world.stage().result(2), SUCCESS);
    world.step(2, "n");  // the scan now reaches the range of the other actor
  }
  world.play("1:c");
  EXPECT_EQ(world.play("2:c"), SUCCESS);
}

TEST(Occ, ReadersTakeNoLock) {
  World world("occ");
  world.play("0:@i1=a 0:@i2=b");
  const int64_t sections = world.counted("commit_sections");
  EXPECT_EQ(world.play("1:b 2:b 3:b 3:i9=w 1:g1 2:g1 1:n 2:n 1:n 2:g7 1:c 2:c"), SUCCESS);
  EXPECT_EQ(world.counted("commit_sections"), sections);
  EXPECT_FALSE(world.counts("locks")) << "occ has no locks to count";
  EXPECT_EQ(world.counted("validations"), 0);
}

TEST(Occ, AReaderIsValidatedAfterAnotherCommit) {
  World world("occ");
  world.play("0:@i1=a 0:@i5=b");
  EXPECT_EQ(world.play("1:b 1:g1 2:@i9=x 1:c"), SUCCESS) << "key 1 has not changed";
  EXPECT_EQ(world.counted("validations"), 1);
  EXPECT_EQ(world.play("1:b 1:g1 1:n 2:@i3=x 1:c"), DEADLOCK) << "a phantom between 1 and 5";
  EXPECT_EQ(world.counted("deadlocks"), 1);
  EXPECT_EQ(world.play("1:b 1:g9 1:n 2:@i10=x 1:c"), DEADLOCK) << "a phantom after the last key";
  EXPECT_EQ(world.play("1:b 1:g4 2:@i4=x 1:c"), DEADLOCK) << "key 4 was missing, and now exists";
  EXPECT_EQ(world.play("1:b 1:g4 2:@d4* 2:@i4=x 1:c"), SUCCESS)
      << "key 4 was deleted, but has the same payload again";
}

TEST(Occ, AWriterFailsEarly) {
  World world("occ");
  world.play("0:@i1=a 1:b 1:g1 2:@d1* 1:d1=a");
  EXPECT_EQ(world.stage().result(1), DEADLOCK)
      << "ENTRY_DNE would be wrong, because the transaction has read the record";
}

TEST(Mvcc, AReaderKeepsItsSnapshotAndNeverFails) {
  World world("mvcc");
  world.play("0:@i1=a 0:@i2=b 1:b 2:@d1* 2:@i3=c 2:@d2* 2:@i2=e");
  const int64_t sections = world.counted("commit_sections");
  EXPECT_EQ(world.play("1:g1"), SUCCESS);
  EXPECT_EQ(world.play("1:g3"), KEY_NOTFOUND);
  EXPECT_EQ(world.play("1:g1 1:n"), SUCCESS);
  EXPECT_EQ(world.play("1:n"), DB_END);
  EXPECT_EQ(world.play("1:c"), SUCCESS);
  EXPECT_EQ(world.counted("commit_sections"), sections) << "a reader commits without a check";
  EXPECT_EQ(world.play("1:b 1:g1"), KEY_NOTFOUND);
}

TEST(Mvcc, OldVersionsAreReclaimedWhenNoSnapshotSeesThem) {
  World world("mvcc");
  world.play("0:@i1=a 0:@i2=b");
  world.play("0:@d1*");
  EXPECT_EQ(world.pairs(), 1u) << "no snapshot saw the deleted pair";
  EXPECT_EQ(world.counted("collected"), 1);
  world.play("1:b 2:@d2* 2:@i2=c 2:@d2* 2:@i2=b 2:@d2*");
  EXPECT_EQ(world.counted("collected"), 1) << "actor 1 may still read the deleted pairs";
  EXPECT_EQ(world.pairs(), 2u);
  EXPECT_EQ(world.play("1:g2 1:n"), DB_END);
  world.play("1:c 2:@i9=x");
  EXPECT_EQ(world.pairs(), 1u);
  EXPECT_EQ(world.play("1:b 1:n 1:n"), DB_END);
}

TEST(Mvcc, AWriterIsValidated) {
  World world("mvcc");
  world.play("0:@i1=a");
  EXPECT_EQ(world.play("1:b 1:g1 2:@d1* 1:i5=x 1:c"), DEADLOCK);
  EXPECT_EQ(world.play("1:b 1:g4 2:@i9=z 1:i5=x 1:c"), SUCCESS);
  EXPECT_EQ(world.counted("deadlocks"), 1);
}

}  // namespace
}  // namespace keydrome::runtime
