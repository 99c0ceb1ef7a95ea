// Implements the sets of string keys of the benchmark "keysets": one source of random texts for
// each set. A text is a stem, such as a host name, followed by a tail. If a text repeats an earlier
// one, only the tail is chosen again (texts.h).
#include <algorithm>
#include <array>
#include <memory>

#include "base/check.h"
#include "benchmarks/keysets/key_sets.h"
#include "benchmarks/keysets/texts.h"
#include "benchmarks/keysets/zipf.h"
#include "benchmarks/kit/script/strings.h"
#include "benchmarks/kit/workload/random_text.h"
#include "keydrome/index.h"

namespace keydrome::keysets {
namespace {

struct Alphabets {
  workload::Alphabet lower{"abcdefghijklmnopqrstuvwxyz"};
  workload::Alphabet lower_and_digits{"abcdefghijklmnopqrstuvwxyz0123456789"};
  workload::Alphabet hexadecimal{"0123456789abcdef"};
};

const Alphabets& of() {
  static const Alphabets alphabets;
  return alphabets;
}

void no_stem(workload::Rng& /*rng*/, std::string& /*text*/) {}

std::string_view domain(workload::Rng& rng) {
  constexpr std::array<std::string_view, 8> kDomains = {"com", "com", "com", "org",
                                                        "net", "edu", "de",  "info"};
  return kDomains[rng.below(kDomains.size())];
}

std::string host_name(workload::Rng& rng) { return of().lower.text(rng, 4 + rng.below(9)); }

// Texts like e-mail addresses: the host in reverse order, then the user. 30 % use one host; the
// others follow a Zipf distribution.
class Emails {
 public:
  static TextSource source(workload::Rng& rng) {
    auto emails = std::make_shared<Emails>(rng);
    return {.stem = [emails](workload::Rng& draws,
                             std::string& text) { (text += emails->host(draws)) += '@'; },
            .tail = user};
  }

  explicit Emails(workload::Rng& rng) : others_(kHosts - 1, 1.0) {
    hosts_.add("com." + of().lower.text(rng, 8));
    while (hosts_.size() < kHosts) {
      std::string host(domain(rng));
      hosts_.add((host += '.') += host_name(rng));
    }
  }

 private:
  static constexpr uint32_t kHosts = 50'000;
  static constexpr uint64_t kTopPercent = 30;

  std::string_view host(workload::Rng& rng) const {
    return hosts_[rng.below(100) < kTopPercent ? 0 : 1 + others_.next(rng)];
  }
  static void user(workload::Rng& rng, std::string& text) {
    const uint64_t length = 3 + rng.below(12);
    of().lower.append(rng, 1, text);
    of().lower_and_digits.append(rng, length - 1, text);
  }

  ZipfTable others_;
  script::Strings hosts_;
};

// Texts like web addresses: a host and one to eight path segments. The last segment is random; the
// others are words from a list.
class Urls {
 public:
  static TextSource source(workload::Rng& rng) {
    auto urls = std::make_shared<Urls>(rng);
    return {
        .stem = [urls](workload::Rng& draws,
                       std::string& text) { text += urls->hosts_[urls->host_rank_.next(draws)]; },
        .tail = [urls](workload::Rng& draws,
                       std::string& text) { urls->append_path(draws, text); }};
  }

  explicit Urls(workload::Rng& rng) : host_rank_(kHosts, 0.9), word_rank_(kWords, 0.9) {
    while (hosts_.size() < kHosts) {
      std::string host = host_name(rng);
      hosts_.add((host += '.') += domain(rng));
    }
    // The first words are the most frequent. The lengths of the words are always 10, 17, 8, 15,
    // ..., so that the mean length of the keys does not depend on chance.
    while (words_.size() < kWords) {
      words_.add('/' +
                 of().lower_and_digits.text(rng, kShortest + (words_.size() + 1) * 7 % kLengths));
    }
  }

 private:
  static constexpr uint32_t kHosts = 100'000, kWords = 2'000;
  static constexpr uint64_t kShortest = 3, kLengths = 16;  // a segment has 3 to 18 characters

  void append_path(workload::Rng& rng, std::string& text) const {
    for (uint64_t words = rng.below(8); words > 0; --words) text += words_[word_rank_.next(rng)];
    text += '/';
    of().lower_and_digits.append(rng, kShortest + rng.below(kLengths), text);
  }

  ZipfTable host_rank_, word_rank_;
  script::Strings hosts_, words_;  // words_ begin with a slash
};

// Texts like genome fragments: windows of one sequence of bases. Each base depends on the five
// before it, and one base in twenty belongs to a copy of an earlier part.
class Genome {
 public:
  static TextSource source(workload::Rng& rng) {
    auto genome = std::make_shared<Genome>(rng);
    return {.stem = no_stem, .tail = [genome](workload::Rng& draws, std::string& text) {
              text += genome->window(draws);
            }};
  }

  explicit Genome(workload::Rng& rng) : sequence_(workload::Alphabet(kBases).text(rng, kLongest)) {
    for (auto& weights : weights_) {
      for (uint64_t& weight : weights) weight = 1 + rng.below(8);
    }
  }

 private:
  static constexpr std::string_view kBases = "ACGT";
  static constexpr std::size_t kWindow = 31;
  static constexpr uint64_t kShortest = 32, kLongest = 256;  // bases of a copy
  // A copy begins after kPerCopy other bases on average, so that 1 base in 20 belongs to a copy.
  static constexpr uint64_t kPerCopy = 19 * (kShortest + kLongest) / 2;
  static constexpr uint32_t kContexts = 4 * 4 * 4 * 4 * 4;

  std::string_view window(workload::Rng& rng) {
    const char base = next_base(rng);
    sequence_ += base;
    context_ = (context_ * 4 + static_cast<uint32_t>(kBases.find(base))) % kContexts;
    return std::string_view(sequence_).substr(sequence_.size() - kWindow);
  }

  char next_base(workload::Rng& rng) {
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

void decimals(workload::Rng& rng, std::string& text) {
  const std::string digits = std::to_string(rng.below(100'000'000));
  text.append(20 - digits.size(), '0') += digits;
}

TextSource common_prefix(workload::Rng& rng) {
  return {.stem = [prefix = workload::letters().text(rng, 120)](
                      workload::Rng&, std::string& text) { text += prefix; },
          .tail = [](workload::Rng& draws,
                     std::string& text) { workload::letters().append(draws, 8, text); }};
}

using MakeSource = TextSource (*)(workload::Rng&);
struct StringSet {
  std::string_view name;
  MakeSource make;
};
constexpr std::array kStringSets = {
    StringSet{"email_like", Emails::source},
    StringSet{"url_like", Urls::source},
    StringSet{"genome_like", Genome::source},
    StringSet{"hex_hash",
              [](workload::Rng&) -> TextSource {
                return {.stem = no_stem, .tail = [](workload::Rng& draws, std::string& text) {
                          of().hexadecimal.append(draws, 32, text);
                        }};
              }},
    StringSet{"padded_decimals",
              [](workload::Rng&) -> TextSource { return {.stem = no_stem, .tail = decimals}; }},
    StringSet{"common_prefix", common_prefix}};

const StringSet* find(std::string_view name) {
  const auto found = std::find_if(kStringSets.begin(), kStringSets.end(),
                                  [&](const StringSet& set) { return set.name == name; });
  return found == kStringSets.end() ? nullptr : found;
}

}  // namespace

bool is_string_set(std::string_view name) { return find(name) != nullptr; }

script::Strings string_keys(std::string_view name, uint32_t count, workload::Rng& rng) {
  const StringSet* set = find(name);
  KEYDROME_CHECK(set != nullptr);
  return distinct_texts(count, MAX_VARCHAR_LEN, set->make(rng), rng);
}

}  // namespace keydrome::keysets
