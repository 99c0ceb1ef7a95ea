// Makes keys and records of type INT, for tests.
#pragma once

#include <cstdint>
#include <string>

#include "keydrome/index.h"

namespace keydrome::runtime {

inline Key key_of(int64_t value) {
  Key key{};
  key.type = INT;
  key.keyval.intkey = value;
  return key;
}

inline Record record_of(int64_t key, const std::string& payload = "") {
  Record record{};
  record.key = key_of(key);
  payload.copy(record.payload, MAX_PAYLOAD_LEN);
  return record;
}

}  // namespace keydrome::runtime
