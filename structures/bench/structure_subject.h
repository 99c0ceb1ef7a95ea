// StructureSubject: lets the program structure_bench measure a structure, i.e. a data structure
// with the interface of contract B (keydrome/structure.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "keydrome/structure.h"
#include "structures/bench/environment.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

// Loads the library, and checks that its table has version 1. The library is never unloaded.
Result<const KeydromeStructureTable*> load_structure(const std::string& path);

class StructureSubject : public Subject {
 public:
  // If `integers` is true, all keys have 8 bytes, and `create` gets this size.
  StructureSubject(const KeydromeStructureTable& table, bool integers, bool huge_pages);
  ~StructureSubject() override { table_.destroy(instance_); }

  std::string name() const override {
    return table_.name + std::string(huge_pages_ ? ", huge pages" : "");
  }
  Abilities abilities() const override;
  void load(const Keys& keys) override;
  void clear() override;
  uint64_t look_up(const Queries& queries) override;
  uint64_t chain(const Queries& queries, uint64_t zero) override;
  uint64_t batch(const Queries& queries) override;
  uint64_t scan(const Queries& queries, uint32_t length) override;
  uint64_t mixed(const Queries& queries) override;
  void begin_threads() override { arena_->begin_threads(); }
  void end_threads() override { arena_->end_threads(); }

 private:
  void create();
  // Ends the program: the structure has returned a wrong result.
  [[noreturn]] void stop(const std::string& what) const;
  uint64_t payload_of(std::string_view key) const;
  void update(std::string_view key, uint64_t payload);

  // A copy of the library's table. A library that was compiled with an older header has a shorter
  // table; the functions that it lacks are null here.
  const KeydromeStructureTable table_;
  const bool integers_, huge_pages_;
  std::unique_ptr<Arena> arena_;
  KeydromeStructure* instance_ = nullptr;
};

}  // namespace keydrome::bench
