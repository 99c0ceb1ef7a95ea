// Tests that the sizes, offsets and enumerators of contract A (keydrome/index.h) are those of the
// SIGMOD 2009 programming contest's header (version 1.03, x86-64). A library that was compiled with
// that header therefore still works.
//
// Also tests the layout of contract B (keydrome/structure.h), the interface of a data structure,
// version 1. Later versions only append members, so structures that were compiled with an older
// header still work.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "keydrome/extensions.h"
#include "keydrome/index.h"
#include "keydrome/structure.h"

namespace {

TEST(ContractA, LimitsAreTheContests) {
  EXPECT_EQ(MAX_PAYLOAD_LEN, 100);
  EXPECT_EQ(MAX_VARCHAR_LEN, 128);
}

TEST(ContractA, CodesAreTheContests) {
  const ErrCode codes[] = {SUCCESS, DB_DNE,       DB_EXISTS, DB_END,   KEY_NOTFOUND, TXN_EXISTS,
                           TXN_DNE, ENTRY_EXISTS, ENTRY_DNE, DEADLOCK, FAILURE};
  for (int i = 0; i < 11; ++i) EXPECT_EQ(static_cast<int>(codes[i]), i);
  EXPECT_EQ(sizeof(ErrCode), 4u);
}

TEST(ContractA, KeyTypesAreTheContests) {
  EXPECT_EQ(static_cast<int>(SHORT), 0);
  EXPECT_EQ(static_cast<int>(INT), 1);
  EXPECT_EQ(static_cast<int>(VARCHAR), 2);
  EXPECT_EQ(sizeof(KeyType), 4u);
}

TEST(ContractA, KeyIsLaidOutAsTheContests) {
  EXPECT_EQ(sizeof(Key), 144u);
  EXPECT_EQ(alignof(Key), 8u);
  EXPECT_EQ(offsetof(Key, type), 0u);
  EXPECT_EQ(offsetof(Key, keyval), 8u);
  EXPECT_EQ(offsetof(Key, keyval.shortkey), 8u);
  EXPECT_EQ(offsetof(Key, keyval.intkey), 8u);
  EXPECT_EQ(offsetof(Key, keyval.charkey), 8u);
  EXPECT_EQ(sizeof(Key::keyval), 136u);
  EXPECT_EQ(sizeof(Key::keyval.shortkey), 4u);
  EXPECT_EQ(sizeof(Key::keyval.intkey), 8u);
  EXPECT_EQ(sizeof(Key::keyval.charkey), 129u);
}

TEST(ContractA, RecordIsLaidOutAsTheContests) {
  EXPECT_EQ(sizeof(Record), 248u);
  EXPECT_EQ(alignof(Record), 8u);
  EXPECT_EQ(offsetof(Record, key), 0u);
  EXPECT_EQ(offsetof(Record, payload), 144u);
  EXPECT_EQ(sizeof(Record::payload), 101u);
}

// If a later header appends members to a struct, append checks to these tests. Of the checks that
// are here, only those of sizes may then change.
TEST(ContractB, StructsOfVersionOneAreFrozen) {
  EXPECT_EQ(KEYDROME_STRUCTURE_VERSION, 1u);
  EXPECT_EQ(KEYDROME_KEY_BYTES_MAX, 128u);
  EXPECT_EQ(KEYDROME_PAYLOAD_BYTES_MAX, 100u);
  EXPECT_EQ(KEYDROME_RUN_BYTES_MIN, 230u);
  EXPECT_EQ(sizeof(KeydromeBytes), 16u);
  EXPECT_EQ(offsetof(KeydromeBytes, size), 8u);
  EXPECT_EQ(sizeof(KeydromeBuffer), 16u);
  EXPECT_EQ(offsetof(KeydromeBuffer, size), 8u);
  EXPECT_EQ(offsetof(KeydromeBuffer, capacity), 12u);
  EXPECT_EQ(sizeof(KeydromeRun), 24u);
  EXPECT_EQ(offsetof(KeydromeRun, data), 0u);
  EXPECT_EQ(offsetof(KeydromeRun, capacity), 8u);
  EXPECT_EQ(offsetof(KeydromeRun, size), 12u);
  EXPECT_EQ(offsetof(KeydromeRun, limit), 16u);
  EXPECT_EQ(offsetof(KeydromeRun, pairs), 20u);
  EXPECT_EQ(sizeof(KeydromeLookup), 40u);
  EXPECT_EQ(offsetof(KeydromeLookup, payload), 16u);
  EXPECT_EQ(offsetof(KeydromeLookup, found), 32u);
  EXPECT_EQ(sizeof(KeydromeEnvironment), 32u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, size), 0u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, home_node), 4u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, context), 8u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, allocate), 16u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, retire), 24u);
  EXPECT_EQ(sizeof(KeydromeSetup), 16u);
  EXPECT_EQ(offsetof(KeydromeSetup, key_bytes), 4u);
  EXPECT_EQ(offsetof(KeydromeSetup, options), 8u);
}

TEST(ContractB, TableOfVersionOneIsFrozen) {
  EXPECT_EQ(sizeof(KeydromeStructureTable), 144u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, version), 0u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, size), 4u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, capabilities), 8u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, key_bytes_only), 12u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, payload_bytes_max), 16u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, payloads_max), 20u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, name), 24u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, description), 32u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, create), 40u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, destroy), 48u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, put), 56u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, del), 64u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, scan), 72u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, find), 80u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, find_batch), 88u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, replace), 96u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, load), 104u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, split), 112u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, concat), 120u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, check), 128u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, statistic), 136u);
}

TEST(ContractB, CapabilitiesAreSingleBits) {
  const unsigned bits[] = {KEYDROME_SHARED_READS, KEYDROME_THREAD_SAFE, KEYDROME_OPTIMISTIC,
                           KEYDROME_ELIDABLE, KEYDROME_UNORDERED};
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(bits[i], 1u << i);
  EXPECT_EQ(static_cast<int>(KEYDROME_NO_MEMORY), -1);
  EXPECT_EQ(static_cast<int>(KEYDROME_TORN), -2);
  EXPECT_EQ(static_cast<int>(KEYDROME_STATISTIC_HEIGHT), 0);
  EXPECT_EQ(static_cast<int>(KEYDROME_STATISTIC_SLOTS_USED), 3);
}

TEST(ContractB, ARunTakesPairsUntilItIsFull) {
  unsigned char bytes[KEYDROME_RUN_BYTES_MIN];
  KeydromeRun run{bytes, sizeof bytes, 9, 3, 9};
  keydrome_run_clear(&run);
  const KeydromeBytes key{"key", 3}, none{nullptr, 0};
  EXPECT_EQ(keydrome_run_add(&run, key, none), 1);
  EXPECT_EQ(keydrome_run_add(&run, none, key), 1);
  EXPECT_EQ(keydrome_run_add(&run, key, key), 1);
  EXPECT_EQ(keydrome_run_add(&run, key, key), 0) << "the run has `limit` pairs";
  KeydromeBytes read_key, read_payload;
  uint32_t at = keydrome_run_read(&run, 0, &read_key, &read_payload);
  EXPECT_EQ(std::memcmp(read_key.data, "key", 3), 0);
  EXPECT_EQ(read_payload.size, 0u);
  at = keydrome_run_read(&run, at, &read_key, &read_payload);
  EXPECT_EQ(read_key.size, 0u);
  EXPECT_EQ(std::memcmp(read_payload.data, "key", 3), 0);
  EXPECT_EQ(keydrome_run_read(&run, at, &read_key, &read_payload), run.size);

  unsigned char largest[KEYDROME_KEY_BYTES_MAX] = {};
  keydrome_run_clear(&run);
  const KeydromeBytes longest_key{largest, KEYDROME_KEY_BYTES_MAX};
  const KeydromeBytes longest_payload{largest, KEYDROME_PAYLOAD_BYTES_MAX};
  EXPECT_EQ(keydrome_run_add(&run, longest_key, longest_payload), 1);
  EXPECT_EQ(run.size, KEYDROME_RUN_BYTES_MIN);
  EXPECT_EQ(keydrome_run_add(&run, none, none), 0) << "no byte is left";
  EXPECT_EQ(run.pairs, 1u);
}

}  // namespace
