// Strings: stores the millions of strings of a script one after another in one buffer. A script is
// the operations of a session with their keys and texts. The number of a string has 32 bits, but
// the buffer may have more than 4 GiB. The benchmark ycsb with 200 million keys needs more.
//
// With one std::string object per string, each string would cost an allocation, twice the memory
// and a cache miss per access.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace keydrome::script {

class Strings {
 public:
  Strings() = default;
  Strings(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) add(text);
  }

  // Appends a string and returns its number, counted from 0. REQUIRES: there are less than 2^32 - 1
  // strings.
  uint32_t add(std::string_view text) {
    KEYDROME_CHECK(size() < UINT32_MAX);
    bytes_ += text;
    offsets_.push_back(bytes_.size());
    return static_cast<uint32_t>(size() - 1);
  }

  // Returns a string by its number. The result is valid until the next add().
  std::string_view operator[](std::size_t number) const {
    return std::string_view(bytes_).substr(offsets_[number],
                                           offsets_[number + 1] - offsets_[number]);
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = std::string_view;

    Iterator(const Strings& strings, std::size_t number) : strings_(&strings), number_(number) {}
    std::string_view operator*() const { return (*strings_)[number_]; }
    Iterator& operator++() {
      ++number_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Strings* strings_;
    std::size_t number_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  std::size_t size() const { return offsets_.size() - 1; }
  bool empty() const { return size() == 0; }
  // Reserves room for `count` more strings with `bytes` bytes in total.
  void reserve(std::size_t count, std::size_t bytes) {
    offsets_.reserve(offsets_.size() + count);
    bytes_.reserve(bytes_.size() + bytes);
  }

  // String i consists of the bytes [offsets[i], offsets[i + 1]).
  std::span<const uint64_t> offsets() const { return offsets_; }
  std::string_view bytes() const { return bytes_; }

  // Returns the length of the longest string in bytes, or 0 if there are no strings.
  std::size_t longest() const {
    std::size_t longest = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      longest = std::max<std::size_t>(longest, offsets_[i + 1] - offsets_[i]);
    }
    return longest;
  }

  bool operator==(const Strings&) const = default;

 private:
  std::vector<uint64_t> offsets_ = {0};
  std::string bytes_;
};

}  // namespace keydrome::script
