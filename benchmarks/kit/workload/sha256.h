// Computes SHA-256 hashes (FIPS 180-4) for the fingerprints of generated scripts. Not optimised for
// speed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace keydrome::workload {

// The caller calls update() any number of times and then hex_digest() once. Not thread-safe.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  // Finishes the computation and returns 64 lower-case hexadecimal digits.
  std::string hex_digest();

 private:
  // Processes one block of 64 bytes.
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                    0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  std::array<uint8_t, 64> block_{};
  std::size_t filled_ = 0;
  uint64_t total_bytes_ = 0;
};

}  // namespace keydrome::workload
