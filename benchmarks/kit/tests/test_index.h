// Provides a small index library in the test's own process, with faults that a test can switch on.
// Tests of the judge use it.
//
// The library is an ordered map with one lock, which a transaction holds from begin to end. Without
// faults it is correct, and the judge must find no violation. With a fault, the judge must find the
// fault.
#pragma once

#include <cstdint>

#include "benchmarks/kit/player/index_api.h"

namespace keydrome::testing {

// The faults to switch on. 0 or false means no fault. A fault with "every" in its name counts the
// calls of all threads together.
struct Faults {
  bool success_only = false;           // every call does nothing and returns SUCCESS
  bool no_isolation = false;           // the lock is held only during each call
  bool keeps_aborted = false;          // abort undoes nothing
  bool loses_aborted_deletes = false;  // abort undoes inserts, but not deletes
  bool unordered = false;              // getNext returns the keys in descending order

  // Every get returns KEY_NOTFOUND and positions the cursor after the key. Gets of stripes (check
  // transactions on keys that only one thread uses) are correct.
  bool misses_everything = false;
  bool misses_new_once = false;  // the first get after an insert returns KEY_NOTFOUND for its key
  bool accepts_duplicates = false;  // insert of a stored pair returns SUCCESS
  bool deletes_missing = false;     // deleting a missing pair returns SUCCESS
  bool keeps_deleted = false;       // deleteRecord of a key returns SUCCESS, but deletes nothing
  bool denies_deletes = false;  // a delete outside the stripes deletes, but returns KEY_NOTFOUND
  bool wraps_around = false;    // getNext restarts after the last record
  uint32_t drops_every = 0;     // every nth insert is not stored
  uint32_t changes_payload_every = 0;  // every nth insert changes the payload's last letter
  uint32_t wrong_key_every = 0;  // every nth insert is stored under the first key of the index
  uint32_t skips_every = 0;      // every nth getNext skips a record
  uint32_t repeats_every = 0;    // every nth getNext returns the previous record again
  uint32_t fails_every = 0;      // every nth insert returns FAILURE
  uint32_t odd_code_every = 0;   // every nth get returns 77, an undocumented code

  // This is no fault: every nth call inside a transaction, and every nth begin and commit, returns
  // DEADLOCK.
  uint32_t deadlock_every = 0;
};

// Returns a new, empty index library with these faults. A new library replaces the previous one.
// This function is not thread-safe, but the functions of the returned API are.
player::IndexApi test_index(const Faults& faults);

}  // namespace keydrome::testing
