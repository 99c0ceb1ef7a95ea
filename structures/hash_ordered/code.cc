// Implements code.h: packs the symbols of a pair (bytes and end marks, pair.h) into codes of 64
// bits.
#include "structures/hash_ordered/code.h"

#include <array>
#include <string_view>

namespace keydrome::hash_ordered {
namespace {

constexpr uint32_t kBase = 75;
constexpr uint32_t kTextSymbols = 10;  // 75^10 < 2^64
constexpr uint32_t kExactSymbols = 7, kExactBits = 9;
// The characters with a number of their own, in ascending order.
constexpr std::string_view kDistinct =
    " -./0123456789@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

struct TextNumber {
  uint8_t number;
  bool shared;  // several symbols have the number
};

// Numbers by symbol. Symbols between two characters of kDistinct share a number.
constexpr std::array<TextNumber, kLargest + 1> make_text_numbers() {
  std::array<TextNumber, kLargest + 1> numbers{};
  uint8_t number = 0;
  std::size_t own = 0;
  for (uint32_t symbol = 1; symbol <= kLargest; ++symbol) {
    const uint32_t byte = symbol - 1;
    const bool is_own = own < kDistinct.size() && byte == static_cast<uint8_t>(kDistinct[own]);
    if (is_own || !numbers.at(symbol - 1).shared) ++number;
    if (is_own) ++own;
    numbers.at(symbol) = {number, !is_own};
  }
  return numbers;
}
constexpr std::array<TextNumber, kLargest + 1> kTextNumbers = make_text_numbers();
static_assert(kTextNumbers[kLargest].number < kBase);

}  // namespace

uint64_t code_of_bytes(const Probe& pair, uint32_t position) {
  const auto key_size = static_cast<uint32_t>(pair.key.size());
  const auto* key = reinterpret_cast<const uint8_t*>(pair.key.data());
  const auto* payload = reinterpret_cast<const uint8_t*>(pair.payload.data());
  const auto payload_size = static_cast<uint32_t>(pair.payload.size());
  if (position >= key_size) {
    return pair.past_key ? ~uint64_t{0} : load_head(payload, payload_size, position - key_size);
  }
  const uint64_t head = load_head(key, key_size, position);
  const uint32_t of_key = key_size - position;
  if (of_key >= sizeof head) return head;
  const uint64_t rest = pair.past_key ? ~uint64_t{0} : load_head(payload, payload_size, 0);
  return head | rest >> (8 * of_key);
}

uint64_t code_of_text(const Probe& pair, uint32_t position) {
  uint64_t code = 0;
  bool ended = false;
  for (uint32_t i = 0; i < kTextSymbols; ++i) {
    const TextNumber next = ended ? TextNumber{} : kTextNumbers[pair.symbol(position + i, 1)];
    code = code * kBase + next.number;
    ended = ended || next.shared;
  }
  return code;
}

uint64_t code_of_symbols(const Probe& pair, uint32_t position, uint32_t mark) {
  uint64_t code = 0;
  for (uint32_t i = 0; i < kExactSymbols; ++i)
    code = code << kExactBits | pair.symbol(position + i, mark);
  return code;
}

}  // namespace keydrome::hash_ordered
