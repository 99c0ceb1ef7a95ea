// SortedSet: a structure that stores its pairs in a sorted container of a library, such as
// std::set. A structure is a data structure with the interface of contract B
// (keydrome/structure.h). README.md of structures/std_map describes such a structure.
//
// Thread safety: threads may call the const functions at the same time, as long as no thread calls
// another function.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <new>
#include <string_view>

#include "keydrome/structure_class.h"
#include "structures/common/keys.h"

namespace keydrome {

// The pairs of one instance. `Container<Entry, Less, Allocator>` has the interface of std::set, and
// `Resource` provides its memory. Some containers are damaged if memory runs out during an
// insertion. The resource of such a container has a function reserve(), which gets the memory for
// one insertion or throws.
template <class Keys, class Resource, template <class...> class Container>
class SortedPairs {
 public:
  SortedPairs(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
      : memory_(environment), resource_(environment), key_bytes_(setup.key_bytes) {}
  SortedPairs(const SortedPairs&) = delete;
  SortedPairs& operator=(const SortedPairs&) = delete;
  ~SortedPairs() {
    for (const Entry& entry : entries_) entry.drop(memory_);
  }

  int put(KeydromeBytes key, KeydromeBytes payload) {
    const Place place{Keys::probe(key), view_of(payload), false};
    const auto at = entries_.lower_bound(place);
    if (at != entries_.end() && !Less()(place, *at)) return 0;
    const Entry entry = Entry::make(memory_, place.key, place.payload);
    try {
      if constexpr (requires { resource_.reserve(); }) resource_.reserve();
      entries_.insert(at, entry);
    } catch (const std::bad_alloc&) {
      entry.drop(memory_);
      throw;
    }
    return 1;
  }

  int del(KeydromeBytes key, KeydromeBytes payload) {
    const auto at = entries_.find(Place{Keys::probe(key), view_of(payload), false});
    if (at == entries_.end()) return 0;
    const Entry entry = *at;
    entries_.erase(at);
    entry.drop(memory_);
    return 1;
  }

  int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now) {
    const Place place{Keys::probe(key), view_of(before), false};
    if (!entries_.contains(place)) return 0;
    if (put(key, now) == 0) return 2;
    return del(key, before);
  }

  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const {
    const Place from{Keys::probe(key), view_of(payload), after && payload.data == nullptr};
    keydrome_run_clear(&run);
    auto at = after ? entries_.upper_bound(from) : entries_.lower_bound(from);
    for (; at != entries_.end(); ++at) {
      if (Keys::add(run, at->key, key_bytes_, at->payload.view()) == 0) return 1;
    }
    return 0;
  }

  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const {
    const Place from{Keys::probe(key), view_of(after), false};
    const auto at = after.data == nullptr ? entries_.lower_bound(from) : entries_.upper_bound(from);
    if (at == entries_.end() || Keys::view(at->key) != from.key) return 0;
    copy_payload(at->payload.view(), payload);
    return 1;
  }

 private:
  using Entry = StoredPair<Keys>;
  // The position at which a call starts. If `past_key` is true, the position is after all pairs
  // with this key.
  struct Place {
    // NOLINTNEXTLINE(readability-redundant-typename): clang 14 needs it
    typename Keys::Probe key;
    std::string_view payload;
    bool past_key;
  };
  struct Less {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const {
      return (*this)(a, Place{Keys::view(b.key), b.payload.view(), false});
    }
    bool operator()(const Entry& entry, const Place& place) const {
      const auto key = Keys::view(entry.key);
      if (key != place.key) return key < place.key;
      return place.past_key || entry.payload.view() < place.payload;
    }
    bool operator()(const Place& place, const Entry& entry) const {
      const auto key = Keys::view(entry.key);
      if (key != place.key) return place.key < key;
      return !place.past_key && place.payload < entry.payload.view();
    }
  };
  using Allocator = std::pmr::polymorphic_allocator<Entry>;

  const StructureMemory memory_;
  Resource resource_;
  const uint32_t key_bytes_;
  Container<Entry, Less, Allocator> entries_{Less(), Allocator(&resource_)};
};

// The structure, with the functions of structure_class.h.
template <class Resource, template <class...> class Container>
class SortedSet : public EitherKeys<SortedPairs<NumberKeys, Resource, Container>,
                                    SortedPairs<TextKeys, Resource, Container>> {
 public:
  using SortedSet::EitherKeys::EitherKeys;

  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const {
    return this->visit(*this,
                       [&](const auto& pairs) { return pairs.scan(key, payload, after, run); });
  }
};

}  // namespace keydrome
