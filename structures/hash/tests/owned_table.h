// One hash table for tests, with functions that take strings.
#pragma once

#include <string>
#include <vector>

#include "structures/tests/shared_environment.h"

namespace keydrome::hash {

// One table, with functions that take strings.
class OwnedTable {
 public:
  OwnedTable(const SharedEnvironment& environment, uint32_t key_bytes) {
    const KeydromeSetup setup{sizeof setup, key_bytes, nullptr};
    instance_ = functions_.create(environment.get(), &setup);
  }
  OwnedTable(const OwnedTable&) = delete;
  OwnedTable& operator=(const OwnedTable&) = delete;
  ~OwnedTable() {
    if (instance_ != nullptr) functions_.destroy(instance_);
  }

  bool exists() const { return instance_ != nullptr; }
  int put(const std::string& key, const std::string& payload) {
    return functions_.put(instance_, bytes(key), bytes(payload));
  }
  int del(const std::string& key, const std::string& payload) {
    return functions_.del(instance_, bytes(key), bytes(payload));
  }
  int replace(const std::string& key, const std::string& before, const std::string& now) {
    return functions_.replace(instance_, bytes(key), bytes(before), bytes(now));
  }
  // `after`: nullptr for the smallest payload.
  bool find(const std::string& key, const std::string* after, std::string& payload) const {
    char found[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer buffer{found, 0, sizeof found};
    const KeydromeBytes from = after == nullptr ? KeydromeBytes{nullptr, 0} : bytes(*after);
    const int result = functions_.find(instance_, bytes(key), from, &buffer);
    EXPECT_TRUE(result == 0 || result == 1) << result;
    if (result == 1) payload.assign(found, buffer.size);
    return result == 1;
  }
  // All payloads of a key, each found after the one before.
  std::vector<std::string> payloads(const std::string& key) const {
    std::vector<std::string> all;
    std::string payload;
    for (const std::string* after = nullptr; find(key, after, payload); after = &payload) {
      all.push_back(payload);
    }
    return all;
  }
  int check() const { return functions_.check(instance_); }
  uint64_t statistic(uint32_t which) const { return functions_.statistic(instance_, which); }
  KeydromeStructure* get() const { return instance_; }
  const KeydromeStructureTable& functions() const { return functions_; }

 private:
  static KeydromeBytes bytes(const std::string& text) {
    return {text.data(), static_cast<uint32_t>(text.size())};
  }

  const KeydromeStructureTable& functions_ = *keydrome_structure();
  KeydromeStructure* instance_;
};

}  // namespace keydrome::hash
