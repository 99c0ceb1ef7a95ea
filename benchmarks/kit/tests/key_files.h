// Writes and reads files of keys, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/workload/key_file/key_file.h"

namespace keydrome::testing {

// A folder of the test, and the path of its only file.
class KeyFiles : public ::testing::Test {
 protected:
  KeyFiles() {
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/keys";
  }
  ~KeyFiles() override { std::filesystem::remove_all(folder_); }

  Result<workload::KeyFile> read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return workload::read_key_file(path_);
  }

  // Returns the error without the path.
  std::string fault(const std::string& content) const {
    const Result<workload::KeyFile> keys = read(content);
    if (keys.ok()) return "";
    EXPECT_TRUE(keys.error().message.starts_with(path_)) << keys.error().message;
    return keys.error().message.substr(path_.size());
  }

  std::string folder_ = ::testing::TempDir() + "key_file_test." + std::to_string(getpid());
  std::string path_;
};

inline std::string word(uint64_t number) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

inline std::string binary(const std::vector<uint64_t>& keys) {
  std::string bytes = word(keys.size());
  for (const uint64_t key : keys) bytes += word(key);
  return bytes;
}

inline std::string lines(const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) text += key + "\n";
  return text;
}

}  // namespace keydrome::testing
