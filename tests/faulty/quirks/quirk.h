// Lists the quirks of quirky.cc. Each quirk is permitted: the contract calls it advisory, or old
// entries of the contest rely on it. So a library with one quirk must pass the whole gate, i.e. all
// correctness tests.
#pragma once

namespace quirky {

enum class Quirk {
  none,
  // The cursor.
  restarts_after_end,     // after DB_END, getNext begins again at the first record
  exact_delete_moves,     // a delete of one pair moves the cursor to the place of the pair
  handles_share_cursors,  // all handles of an index have one cursor for each transaction
  // A new handle has the cursor of the index's last closed handle.
  reopening_keeps_cursor,
  // An open in a transaction resets the cursors of the index's other handles.
  opening_resets_cursors,
  // A get finds no record, and the transaction then inserts this key: the next getNext returns it.
  misses_stop_before,
  // Result codes.
  delete_code,             // KEY_NOTFOUND for a missing pair under a stored key
  missing_key_is_entry,    // ENTRY_DNE for a missing pair under a missing key
  no_txn_exists,           // a second begin returns SUCCESS and the open transaction
  failure_after_deadlock,  // after DEADLOCK, calls return FAILURE instead of TXN_DNE
  abort_is_deadlock,       // the abort after a DEADLOCK returns DEADLOCK
  dead_commit_ends,        // a commit after DEADLOCK returns TXN_DNE and ends the transaction
  never_waits,             // DEADLOCK at once if another transaction has the lock
  third_commit_deadlocks,  // every third commit of a thread undoes its changes and returns DEADLOCK
  // Every twelfth call of a thread on records returns DEADLOCK, but the next attempt succeeds.
  twelfth_call_deadlocks,
  // Auto-commit calls of a thread with an open transaction.
  auto_commit_joins,  // they become part of the transaction
  auto_commit_fails,  // they return FAILURE
  // Misuse, for example an unknown handle or transaction.
  misuse_crashes,   // the process ends
  misuse_succeeds,  // SUCCESS, or KEY_NOTFOUND for a call on records
  // Sizes beyond those that are required.
  cuts_names,           // only the first 63 bytes of the name of an index count
  long_names_crash,     // a name of more than 63 bytes ends the process
  forgets_old_changes,  // an abort undoes only the newest 10,000 changes
  // Behaviour that entries of the contest of 2009 rely on.
  keeps_names,          // keeps the pointer to the name that create receives
  reserves_4_gib,       // 4 GiB of untouched address space for each index
  static_128_mib,       // 128 MiB of static data
  writes_keys,          // zeroes the bytes of the caller's Key after its integer
  no_terminator,        // writes a payload without the zero byte
  locks_for_80_ms,      // waits 80 ms for a lock before DEADLOCK
  file_for_each_index,  // one file and one open descriptor for each index
  static_destructors,   // frees all data when the process ends
};

// The quirk of this library. quirk.cc defines it.
extern const Quirk kQuirk;

// Static data of the library, and its size.
extern char* const kStaticData;
extern const unsigned long kStaticBytes;

}  // namespace quirky
