// Reserves a slot for a test or measuring program that starts jails (sandboxes) itself.
//
// A slot is the number that gives a jail its own user and control groups, so two jails must not use
// one slot at the same time. Therefore every program that starts jails first reserves its slot: it
// binds an abstract Unix socket to the slot's name (runner/slots.py).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace keydrome {

inline constexpr uint32_t kLocalSlotFirst = 900;
inline constexpr uint32_t kLocalSlotLast = 999;

// Binds the name of a slot and returns the socket, which holds the name until it is closed. Returns
// an invalid descriptor if another process holds the name.
inline UniqueFd take_slot_name(uint32_t slot) {
  const std::string name = "keydrome-slot-" + std::to_string(slot);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The name of an abstract socket begins with a zero byte.
  std::memcpy(&address.sun_path[1], name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  UniqueFd holder(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (holder.valid() && bind(holder.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    holder.reset();
  }
  return holder;
}

// Returns a slot that is reserved for this process until it exits. The first call reserves a free
// slot. It searches downwards from kLocalSlotLast, because the command `keydrome` searches upwards,
// so that the two seldom try the same slot. Exits with a message if all slots are in use.
inline uint32_t local_slot() {
  struct Held {
    uint32_t slot = kLocalSlotLast;
    UniqueFd holder = take_slot_name(kLocalSlotLast);
  };
  static const Held held = [] {
    Held found;
    while (!found.holder.valid() && found.slot > kLocalSlotFirst) {
      found.holder = take_slot_name(--found.slot);
    }
    return found;
  }();
  if (held.holder.valid()) return held.slot;
  std::fprintf(stderr,
               "other processes use all sandboxes (jail slots) from number %u to %u: wait until "
               "one of these processes ends\n",
               kLocalSlotFirst, kLocalSlotLast);
  std::exit(2);
}

}  // namespace keydrome
