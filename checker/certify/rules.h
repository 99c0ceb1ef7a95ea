// Lists the rules by which certify() derives edges and findings from a history. Each rule is a bit.
// An edge from T1 to T2 means that transaction T1 precedes T2 in every serial order.
//
// Tests switch rules off one by one with CertifyOptions::disabled_rules. They show that certify()
// needs each rule: without the rule, it gives a wrong verdict on some history. In the comments, a
// call *reads* a key also if its result shows that the key has no record.
#pragma once

#include <cstdint>

namespace keydrome::certify {

enum Rule : uint32_t {
  kRuleWriteWrite = 1u << 0,  // the inserter of a record precedes the record's deleter
  kRuleWriteRead = 1u << 1,   // the inserter of a record precedes each reader of the record
  kRuleReadWrite = 1u << 2,   // each reader of a record precedes the record's deleter
  // The next two rules apply to a reader that did not see a record:
  kRulePredicateWrite = 1u << 3,  // it came too early: it precedes the record's inserter
  kRulePredicateRead = 1u << 4,   // it came too late: the record's deleter precedes it
  kRuleGap = 1u << 5,             // a getNext reads all keys that it passes over
  kRuleBeforeFirst = 1u << 6,     // the first getNext reads all keys smaller than its result
  kRuleTail = 1u << 7,            // a getNext with DB_END reads all keys after the cursor
  kRuleRestOfKey = 1u << 8,       // a scan that leaves a key has read all payloads of the key
  kRuleMissingKey = 1u << 9,      // a get with KEY_NOTFOUND reads all payloads of the key
  kRuleMissedDelete = 1u << 10,   // a deleteRecord that finds nothing reads the given pair or key
  kRuleExists = 1u << 11,         // an insertRecord with ENTRY_EXISTS reads the existing record
  kRuleDeleteAll = 1u << 12,      // a delete of all payloads deletes every payload that exists
  kRuleRealTime = 1u << 13,       // a transaction precedes all that began after it had returned
  // A reader did not see a record, and it is not known whether it came too early or too late: at
  // least one of the two edges holds (Choice in dependencies.h).
  kRuleChoice = 1u << 14,
  kRuleAborted = 1u << 15,        // writes of failed transactions must never be read
  kRuleDirty = 1u << 16,          // writes must not be read before their commit is called
  kRuleIntermediate = 1u << 17,   // records that their own writer deleted must not be read
  kRuleOwnWrites = 1u << 18,      // a transaction reads its own writes
  kRuleScanOrder = 1u << 19,      // a scan goes forwards and returns each record once
  kRuleDoubleDelete = 1u << 20,   // a record is deleted once
  kRuleFailedReaders = 1u << 21,  // failed transactions must not read uncommitted records either
  kRuleReplay = 1u << 22,         // the serial order that was found is replayed on the model
};
inline constexpr uint32_t kRuleCount = 23;

}  // namespace keydrome::certify
