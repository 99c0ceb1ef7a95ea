#include <algorithm>
#include <array>
#include <memory>

#include "base/check.h"
#include "benchmarks/keysets/key_sets.h"
#include "benchmarks/keysets/texts.h"
#include "benchmarks/keysets/zipf.h"
#include "benchmarks/kit/letters.h"
#include "benchmarks/kit/strings.h"
#include "keydrome/index.h"

namespace keydrome::keysets {
namespace {

struct Alphabets {
  Alphabet lower{"abcdefghijklmnopqrstuvwxyz"};
  Alphabet lower_and_digits{"abcdefghijklmnopqrstuvwxyz0123456789"};
  Alphabet hexadecimal{"0123456789abcdef"};
};

const Alphabets& of() {
  static const Alphabets alphabets;
  return alphabets;
}

void no_stem(Rng& /*rng*/, std::string& /*text*/) {}

std::string_view domain(Rng& rng) {
  constexpr std::array<std::string_view, 8> kDomains = {"com", "com", "com", "org",
                                                        "net", "edu", "de",  "info"};
  return kDomains[rng.below(kDomains.size())];
}

std::string host_name(Rng& rng) { return of().lower.text(rng, 4 + rng.below(9)); }

// Host, backwards, then the user: 30 % at one host, the others by a Zipf law.
class Emails {
 public:
  static TextSource source(Rng& rng) {
    auto emails = std::make_shared<Emails>(rng);
    return {
        .stem = [emails](Rng& draws, std::string& text) { (text += emails->host(draws)) += '@'; },
        .tail = user};
  }

  explicit Emails(Rng& rng) : others_(kHosts - 1, 1.0) {
    hosts_.add("com." + of().lower.text(rng, 8));
    while (hosts_.size() < kHosts) {
      std::string host(domain(rng));
      hosts_.add((host += '.') += host_name(rng));
    }
  }

 private:
  static constexpr uint32_t kHosts = 50'000;
  static constexpr uint64_t kTopPercent = 30;

  std::string_view host(Rng& rng) const {
    return hosts_[rng.below(100) < kTopPercent ? 0 : 1 + others_.next(rng)];
  }
  static void user(Rng& rng, std::string& text) {
    const uint64_t length = 3 + rng.below(12);
    of().lower.append(rng, 1, text);
    of().lower_and_digits.append(rng, length - 1, text);
  }

  ZipfTable others_;
  Strings hosts_;
};

// Host and one to eight segments: the last is the page's own, the others are words that come again.
class Urls {
 public:
  static TextSource source(Rng& rng) {
    auto urls = std::make_shared<Urls>(rng);
    return {
        .stem = [urls](Rng& draws,
                       std::string& text) { text += urls->hosts_[urls->host_law_.next(draws)]; },
        .tail = [urls](Rng& draws, std::string& text) { urls->draw_path(draws, text); }};
  }

  explicit Urls(Rng& rng) : host_law_(kHosts, 0.9), word_law_(kWords, 0.9) {
    while (hosts_.size() < kHosts) {
      std::string host = host_name(rng);
      hosts_.add((host += '.') += domain(rng));
    }
    // The first words, which come most often, are of all lengths in every set: 10, 17, 8, 15, ...
    while (words_.size() < kWords) {
      words_.add('/' +
                 of().lower_and_digits.text(rng, kShortest + (words_.size() + 1) * 7 % kLengths));
    }
  }

 private:
  static constexpr uint32_t kHosts = 100'000, kWords = 2'000;
  static constexpr uint64_t kShortest = 3, kLengths = 16;  // of a segment: 3 to 18

  void draw_path(Rng& rng, std::string& text) const {
    for (uint64_t words = rng.below(8); words > 0; --words) text += words_[word_law_.next(rng)];
    text += '/';
    of().lower_and_digits.append(rng, kShortest + rng.below(kLengths), text);
  }

  ZipfTable host_law_, word_law_;
  Strings hosts_, words_;  // words with a bar in front
};

// The windows of a sequence in which each base depends on the five before it, and one base in
// twenty belongs to a copy of an earlier piece.
class Genome {
 public:
  static TextSource source(Rng& rng) {
    auto genome = std::make_shared<Genome>(rng);
    return {.stem = no_stem,
            .tail = [genome](Rng& draws, std::string& text) { text += genome->window(draws); }};
  }

  explicit Genome(Rng& rng) : sequence_(Alphabet(kBases).text(rng, kLongest)) {
    for (auto& weights : weights_) {
      for (uint64_t& weight : weights) weight = 1 + rng.below(8);
    }
  }

 private:
  static constexpr std::string_view kBases = "ACGT";
  static constexpr std::size_t kWindow = 31;
  static constexpr uint64_t kShortest = 32, kLongest = 256;  // copies
  // A copy begins at one base in kPerCopy of the others, so that 1 in 20 belongs to one.
  static constexpr uint64_t kPerCopy = 19 * (kShortest + kLongest) / 2;
  static constexpr uint32_t kContexts = 4 * 4 * 4 * 4 * 4;

  std::string_view window(Rng& rng) {
    const char base = next_base(rng);
    sequence_ += base;
    context_ = (context_ * 4 + static_cast<uint32_t>(kBases.find(base))) % kContexts;
    return std::string_view(sequence_).substr(sequence_.size() - kWindow);
  }

  char next_base(Rng& rng) {
    if (copy_left_ == 0 && rng.below(kPerCopy) == 0) {
      copy_left_ = kShortest + rng.below(kLongest - kShortest + 1);
      copy_from_ = rng.below(sequence_.size() - copy_left_ + 1);
    }
    if (copy_left_ > 0) {
      --copy_left_;
      return sequence_[copy_from_++];
    }
    const auto& weights = weights_[context_];
    uint64_t at = rng.below(weights[0] + weights[1] + weights[2] + weights[3]);
    std::size_t base = 0;
    while (at >= weights[base]) at -= weights[base++];
    return kBases[base];
  }

  std::string sequence_;
  std::array<std::array<uint64_t, 4>, kContexts> weights_{};
  uint32_t context_ = 0;  // the last five bases
  uint64_t copy_left_ = 0, copy_from_ = 0;
};

void decimals(Rng& rng, std::string& text) {
  const std::string digits = std::to_string(rng.below(100'000'000));
  text.append(20 - digits.size(), '0') += digits;
}

TextSource common_prefix(Rng& rng) {
  return {.stem = [prefix = letters().text(rng, 120)](Rng&, std::string& text) { text += prefix; },
          .tail = [](Rng& draws, std::string& text) { letters().append(draws, 8, text); }};
}

using MakeSource = TextSource (*)(Rng&);
struct StringSet {
  std::string_view name;
  MakeSource make;
};
constexpr std::array kStringSets = {
    StringSet{"email_like", Emails::source},
    StringSet{"url_like", Urls::source},
    StringSet{"genome_like", Genome::source},
    StringSet{"hex_hash",
              [](Rng&) -> TextSource {
                return {.stem = no_stem, .tail = [](Rng& draws, std::string& text) {
                          of().hexadecimal.append(draws, 32, text);
                        }};
              }},
    StringSet{"padded_decimals",
              [](Rng&) -> TextSource { return {.stem = no_stem, .tail = decimals}; }},
    StringSet{"common_prefix", common_prefix}};

const StringSet* find(std::string_view name) {
  const auto found = std::find_if(kStringSets.begin(), kStringSets.end(),
                                  [&](const StringSet& set) { return set.name == name; });
  return found == kStringSets.end() ? nullptr : found;
}

}  // namespace

bool is_string_set(std::string_view name) { return find(name) != nullptr; }

Strings string_keys(std::string_view name, uint32_t count, Rng& rng) {
  const StringSet* set = find(name);
  KEYDROME_CHECK(set != nullptr);
  return distinct_texts(count, MAX_VARCHAR_LEN, set->make(rng), rng);
}

}  // namespace keydrome::keysets
