// script(): a history from a line of text, so that a test reads like the case it is about.
//
//   "1:b 1:i(5,x) 2:g!(5)=NF 1:c"
//
// Steps run one after the other, THREAD:CALL. Calls: b c a (begin, commit, abort), g(KEY)=PAYLOAD,
// n=KEY,PAYLOAD (getNext), i(KEY,PAYLOAD), d(KEY,PAYLOAD), d(KEY,*), open, close, create. The
// answer is SUCCESS unless '=' names a code: NF (KEY_NOTFOUND), END, EXISTS, NONE (ENTRY_DNE), DL
// (DEADLOCK), TXN (TXN_DNE), FAIL. '!' behind the letter makes the call auto-committed. "B." before
// the call means index 1, "A." or nothing index 0. '~' before THREAD makes the call begin together
// with the step before it, so that the two overlap.
#pragma once

#include <string>
#include <string_view>

#include "checker/history.h"

namespace keydrome {

// Two indexes of the type; with VARCHAR the keys are words, otherwise numbers.
History script(std::string_view steps, KeyType type = INT);

// Every event with its stamps, for the message of a failed test.
std::string text_of(const History& history);

}  // namespace keydrome
