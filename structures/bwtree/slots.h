// Slots: hands out the slots of a tree (page.h). They are in groups of 4 KiB. So all slots of a
// tree together need few cache lines and few entries of the TLB. This matters because each lookup
// reads the slot of a leaf. Slots that are allocated one by one would each share a cache line with
// other data.
//
// A slot that has been dropped is not used again, because readers may still know it. A group is
// retired after all its slots have been dropped.
#pragma once

#include <atomic>
#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/bwtree/page.h"

namespace keydrome::bwtree {

inline constexpr uint32_t kSlotGroup = 4096;  // bytes of a group

// Thread-safe, except for the destructor.
class Slots {
 public:
  explicit Slots(const StructureMemory& memory) : memory_(memory) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  // Slots that have not been dropped stay valid.
  ~Slots();

  // Returns nullptr if out of memory.
  Slot* make(const Page* page);
  void drop(Slot* slot) const;
  // Drops a slot that no other thread knows. If it is the newest one, another page may get it.
  void undo(Slot* slot);

 private:
  struct Group;

  Slot* take();
  void leave(Group* group) const;

  const StructureMemory& memory_;
  std::atomic<bool> latch_ = false;
  Group* group_ = nullptr;  // the next slots come from it; protected by latch_
};

}  // namespace keydrome::bwtree
