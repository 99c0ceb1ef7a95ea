// script(): makes a recorded history from a line of text, so that a test can show its history:
//
//   "1:b 1:i(5,x) 2:g!(5)=NF 1:c"
//
// Each step is THREAD:CALL. Steps run one after the other. The calls are:
//   b c a           begin, commit, abort
//   g(KEY)=PAYLOAD  get
//   n=KEY,PAYLOAD   getNext
//   i(KEY,PAYLOAD)  insertRecord
//   d(KEY,PAYLOAD)  deleteRecord of a pair; d(KEY,*) of all payloads
//   open close create   openIndex, closeIndex, create
//
// A result code may follow '=': NF (KEY_NOTFOUND), END (DB_END), EXISTS (ENTRY_EXISTS), NONE
// (ENTRY_DNE), DL (DEADLOCK), TXN (TXN_DNE), NODB (DB_DNE), OPEN (TXN_EXISTS) or FAIL (FAILURE).
// Without '=' the result is SUCCESS.
//
// '!' after the letter makes the call auto-committed. "B." before the call means index 1; "A." or
// nothing means index 0. A digit after this letter says which of the thread's handles of the index
// the call passes: "A2.n=END" passes the second handle. Without a digit, the call passes the first.
// '~' before THREAD makes the call begin at the same time as the call of the previous step, so that
// the two calls overlap.
#pragma once

#include <string>
#include <string_view>

#include "checker/history/history.h"

namespace keydrome {

// Returns the history of these steps. It has two indexes of `type`. With VARCHAR the keys are
// words, otherwise they are numbers.
history::History script(std::string_view steps, KeyType type = INT);

// Returns every event with its timestamps as text, for the message of a failed test.
std::string text_of(const history::History& history);

}  // namespace keydrome
