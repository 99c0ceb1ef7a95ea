/* Makes a structure of contract B (structure.h) from a C++20 class. The members of the class are
 * the functions of the structure. This header adds the table of functions. The functions in the
 * table convert handles to objects of the class, and std::bad_alloc to KEYDROME_NO_MEMORY or NULL.
 *
 *     class Tree {
 *      public:
 *       Tree(const KeydromeEnvironment& environment, const KeydromeSetup& setup);
 *       ~Tree();
 *       int put(KeydromeBytes key, KeydromeBytes payload);
 *       int del(KeydromeBytes key, KeydromeBytes payload);
 *       int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const;
 *     };
 *     constexpr KeydromeStructureTable kTable = keydrome::structure_table<Tree>(
 *         {.name = "tree", .description = "...", .capabilities = KEYDROME_SHARED_READS});
 *     const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
 *
 * Each member does what the function of the same name in structure.h does. These rules apply, too:
 *
 *   - A structure has options if the class has the member
 *       static bool accepts(const char* options);  // NULL, or a JSON object; must not throw
 *     `accepts` returns false if it does not know one of the options. The constructor gets the
 *     accepted text in `setup`, or NULL if `split` makes the object. Without `accepts`, `create`
 *     accepts only NULL and "{}" as options.
 *   - An unordered class has no `scan`. Other members that may be absent:
 *       int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const;
 *       void find_batch(uint32_t count, KeydromeLookup* lookups) const;
 *       int replace(KeydromeBytes key, KeydromeBytes before, KeydromeBytes now);
 *       int load(const KeydromeRun& run);
 *       int split(KeydromeBytes key, Tree& high);  // `high` is empty; returns 0, or
 *                                                  // KEYDROME_NO_MEMORY
 *       int concat(Tree& high);  // takes the pairs of `high`; on success, `high` is then empty
 *       int check() const;
 *       uint64_t statistic(uint32_t which) const;
 *   - Members must be public and not overloaded. A private or overloaded member counts as absent.
 *   - If memory runs out, every member except accepts, check and statistic may throw
 *     std::bad_alloc. The function in the table then returns KEYDROME_NO_MEMORY, or NULL if it is
 *     split. A constructor that gets too little memory must free what it has allocated, and must
 *     throw std::bad_alloc. The function create in the table then returns NULL. Every other
 *     exception ends the process. A noexcept member is called without the cost of a handler.
 *
 * Thread safety: that of the class. */
#ifndef KEYDROME_STRUCTURE_CLASS_H_
#define KEYDROME_STRUCTURE_CLASS_H_

#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <new>
#include <string_view>
#include <utility>

#include "keydrome/structure.h"

namespace keydrome {

/* Returns the bytes as a view, which is empty if `data` is NULL. Views compare in the order of
 * contract B. */
inline std::string_view view_of(KeydromeBytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.data == nullptr ? 0 : bytes.size};
}
inline KeydromeBytes bytes_of(std::string_view view) {
  return {view.data(), static_cast<uint32_t>(view.size())};
}

/* Copies a payload to the caller's buffer, which has room for every payload. */
inline void copy_payload(std::string_view payload, KeydromeBuffer& to) {
  if (payload.size() == 8) {
    std::memcpy(to.data, payload.data(), 8); /* frequent; a copy of constant size needs no call */
  } else if (!payload.empty()) {
    std::memcpy(to.data, payload.data(), payload.size());
  }
  to.size = static_cast<uint32_t>(payload.size());
}

/* Allocates and retires memory through the environment. Thread-safe. */
class StructureMemory {
 public:
  explicit StructureMemory(const KeydromeEnvironment& environment) : environment_(environment) {}

  /* Returns nullptr if out of memory. */
  void* allocate(size_t size, size_t alignment) const {
    return environment_.allocate(environment_.context, size, alignment);
  }
  void retire(void* memory, size_t size, size_t alignment) const {
    environment_.retire(environment_.context, memory, size, alignment);
  }

 private:
  KeydromeEnvironment environment_;
};

/* Gives memory of the environment to containers of the standard library (std::pmr). Thread-safe. */
class StructureResource final : public std::pmr::memory_resource {
 public:
  explicit StructureResource(const KeydromeEnvironment& environment) : memory_(environment) {}

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    void* memory = memory_.allocate(size, alignment);
    return memory != nullptr ? memory : throw std::bad_alloc();
  }
  void do_deallocate(void* memory, size_t size, size_t alignment) override {
    memory_.retire(memory, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  const StructureMemory memory_;
};

/* The members of KeydromeStructureTable that are not functions. A limit of 0 means no limit. */
struct StructureFacts {
  const char* name;
  const char* description;
  uint32_t capabilities = 0;
  uint32_t key_bytes_only = 0;
  uint32_t payload_bytes_max = 0;
  uint32_t payloads_max = 0;
};

/* The functions of the table for one class. Each converts the handle to an object of the class and
 * calls the member of the same name. */
template <class Class>
class StructureFunctions {
 public:
  static constexpr KeydromeStructureTable table(const StructureFacts& facts) {
    KeydromeStructureTable made{};
    made.version = KEYDROME_STRUCTURE_VERSION;
    made.size = sizeof made;
    made.capabilities = facts.capabilities;
    made.key_bytes_only = facts.key_bytes_only;
    made.payload_bytes_max = facts.payload_bytes_max;
    made.payloads_max = facts.payloads_max;
    made.name = facts.name;
    made.description = facts.description;
    made.create = create;
    made.destroy = destroy;
    made.put = put;
    made.del = del;
    if constexpr (requires { &Class::scan; }) made.scan = scan;
    if constexpr (requires { &Class::find; }) made.find = find;
    if constexpr (requires { &Class::find_batch; }) made.find_batch = find_batch;
    if constexpr (requires { &Class::replace; }) made.replace = replace;
    if constexpr (requires { &Class::load; }) made.load = load;
    if constexpr (requires { &Class::split; }) made.split = split;
    if constexpr (requires { &Class::concat; }) made.concat = concat;
    if constexpr (requires { &Class::check; }) made.check = check;
    if constexpr (requires { &Class::statistic; }) made.statistic = statistic;
    return made;
  }

 private:
  /* What a handle points to. */
  struct Instance {
    const KeydromeEnvironment& environment;
    uint32_t key_bytes;
    Class object;
  };

  static Instance& instance_of(KeydromeStructure* handle) {
    return *reinterpret_cast<Instance*>(handle);
  }
  static Class& of(KeydromeStructure* handle) { return instance_of(handle).object; }
  static const Class& of(const KeydromeStructure* handle) {
    return reinterpret_cast<const Instance*>(handle)->object;
  }

  /* The compiler removes the handler if the member is noexcept. */
  template <class Call>
  static int guard(const Call& call) noexcept {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      return KEYDROME_NO_MEMORY;
    }
  }

  static KeydromeStructure* make(const KeydromeEnvironment& environment, uint32_t key_bytes,
                                 const char* options) {
    const KeydromeSetup setup{sizeof setup, key_bytes, options};
    void* place = environment.allocate(environment.context, sizeof(Instance), alignof(Instance));
    if (place == nullptr) return nullptr;
    try {
      new (place) Instance{environment, key_bytes, Class(environment, setup)};
    } catch (const std::bad_alloc&) {
      environment.retire(environment.context, place, sizeof(Instance), alignof(Instance));
      return nullptr;
    }
    return static_cast<KeydromeStructure*>(place);
  }

  static KeydromeStructure* create(const KeydromeEnvironment* environment,
                                   const KeydromeSetup* setup) noexcept {
    if constexpr (requires { Class::accepts(setup->options); }) {
      if (!Class::accepts(setup->options)) return nullptr;
    } else if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) {
      return nullptr;
    }
    return make(*environment, setup->key_bytes, setup->options);
  }
  static void destroy(KeydromeStructure* handle) noexcept {
    Instance& instance = instance_of(handle);
    const KeydromeEnvironment& environment = instance.environment;
    instance.~Instance();
    environment.retire(environment.context, handle, sizeof(Instance), alignof(Instance));
  }

  static int put(KeydromeStructure* handle, KeydromeBytes key, KeydromeBytes payload) noexcept {
    return guard([&] { return of(handle).put(key, payload); });
  }
  static int del(KeydromeStructure* handle, KeydromeBytes key, KeydromeBytes payload) noexcept {
    return guard([&] { return of(handle).del(key, payload); });
  }
  static int scan(const KeydromeStructure* handle, KeydromeBytes key, KeydromeBytes payload,
                  int after, KeydromeRun* run) noexcept {
    return guard([&] { return of(handle).scan(key, payload, after != 0, *run); });
  }
  static int find(const KeydromeStructure* handle, KeydromeBytes key, KeydromeBytes after,
                  KeydromeBuffer* payload) noexcept {
    return guard([&] { return of(handle).find(key, after, *payload); });
  }
  static int find_batch(const KeydromeStructure* handle, uint32_t count,
                        KeydromeLookup* lookups) noexcept {
    return guard([&] {
      of(handle).find_batch(count, lookups);
      return 0;
    });
  }
  static int replace(KeydromeStructure* handle, KeydromeBytes key, KeydromeBytes before,
                     KeydromeBytes now) noexcept {
    return guard([&] { return of(handle).replace(key, before, now); });
  }
  static int load(KeydromeStructure* handle, const KeydromeRun* run) noexcept {
    return guard([&] { return of(handle).load(*run); });
  }

  static KeydromeStructure* split(KeydromeStructure* handle, KeydromeBytes key,
                                  const KeydromeEnvironment* environment) noexcept {
    KeydromeStructure* high = make(*environment, instance_of(handle).key_bytes, nullptr);
    if (high == nullptr) return nullptr;
    if (guard([&] { return of(handle).split(key, of(high)); }) == 0) return high;
    destroy(high);
    return nullptr;
  }
  static int concat(KeydromeStructure* low, KeydromeStructure* high) noexcept {
    const int result = guard([&] { return of(low).concat(of(high)); });
    if (result == 0) destroy(high);
    return result;
  }

  static int check(const KeydromeStructure* handle) noexcept { return of(handle).check(); }
  static uint64_t statistic(const KeydromeStructure* handle, uint32_t which) noexcept {
    return of(handle).statistic(which);
  }
};

/* Returns the table of a structure that is implemented by `Class`. */
template <class Class>
constexpr KeydromeStructureTable structure_table(const StructureFacts& facts) {
  constexpr bool kHasScan = requires { &Class::scan; };
  constexpr bool kHasFind = requires { &Class::find; };
  static_assert(kHasScan || kHasFind,
                "the class must have a member scan or, if its keys are unordered, find");
  return StructureFunctions<Class>::table(facts);
}

}  // namespace keydrome

#endif /* KEYDROME_STRUCTURE_CLASS_H_ */
