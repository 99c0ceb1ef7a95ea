// A library with one fault, for tests: a handle that a thread opened while it had another handle of
// the same index skips every 20th record of its scans. The benchmark `differential`, which judges
// the scans of each handle, must find the fault.
#include <map>
#include <string>

#include "tests/faulty/honest.h"

namespace {

thread_local std::map<std::string, int> open_handles;          // by name of the index
thread_local std::map<const IdxState*, std::string> names;     // of open handles
thread_local std::map<const IdxState*, int> steps_of_further;  // getNext calls by further handle

}  // namespace

extern "C" {

ErrCode openIndex(const char* name, IdxState** idxState) {
  const ErrCode code = honest::openIndex(name, idxState);
  if (code != SUCCESS) return code;
  names[*idxState] = name;
  if (++open_handles[name] > 1) steps_of_further[*idxState] = 0;
  return code;
}

ErrCode closeIndex(IdxState* idxState) {
  --open_handles[names[idxState]];
  names.erase(idxState);
  steps_of_further.erase(idxState);
  return honest::closeIndex(idxState);
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  const auto steps = steps_of_further.find(idxState);
  if (steps != steps_of_further.end() && ++steps->second % 20 == 0) {
    const ErrCode code = honest::getNext(idxState, txn, record);
    if (code != SUCCESS) return code;
  }
  return honest::getNext(idxState, txn, record);
}

}  // extern "C"
