// Tests that the sizes, offsets and enumerators of contract A (keydrome/index.h) are those of the
// SIGMOD 2009 programming contest's header (version 1.03, x86-64). A library that was compiled with
// that header therefore still works.
//
// Also tests the layout of contract B (keydrome/structure.h), the interface of a data structure, so
// that every change of the layout is noticed. Contract B still has version 0. Until version 1, its
// layout and these tests may change together.
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

TEST(ContractB, VersionZeroIsRecorded) {
  EXPECT_EQ(KEYDROME_STRUCTURE_VERSION, 0u);
  EXPECT_EQ(KEYDROME_KEY_BYTES_MAX, 128u);
  EXPECT_EQ(KEYDROME_PAYLOAD_BYTES_MAX, 100u);
  EXPECT_EQ(sizeof(KeydromeBytes), 16u);
  EXPECT_EQ(sizeof(KeydromeBuffer), 16u);
  EXPECT_EQ(sizeof(KeydromePosition), 64u);
  EXPECT_EQ(sizeof(KeydromeEnvironment), 32u);
  EXPECT_EQ(offsetof(KeydromeEnvironment, home_node), 24u);
}

TEST(ContractB, TableOfVersionZeroIsRecorded) {
  EXPECT_EQ(sizeof(KeydromeStructureTable), 128u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, version), 0u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, capabilities), 4u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, name), 8u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, create), 24u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, put), 40u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, seek), 56u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, next), 64u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, get_batch), 72u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, import_run), 104u);
  EXPECT_EQ(offsetof(KeydromeStructureTable, statistic), 120u);
}

TEST(ContractB, CapabilitiesAreSingleBits) {
  const unsigned bits[] = {KEYDROME_SHARED_READS, KEYDROME_THREAD_SAFE, KEYDROME_OPTIMISTIC,
                           KEYDROME_ELIDABLE,     KEYDROME_SPLITTABLE,  KEYDROME_STREAMABLE,
                           KEYDROME_BATCH};
  for (unsigned i = 0; i < 7; ++i) EXPECT_EQ(bits[i], 1u << i);
}

}  // namespace
