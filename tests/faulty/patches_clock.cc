// A hostile library for tests: it stops the clock of its process. It exports a clock_gettime of its
// own. It also overwrites the entry of clock_gettime in the global offset table of the player, the
// program that calls the library. All calls to the library work correctly.
//
// The library must pass, and the report must have right times. Only the time that the player
// measures may be wrong. All other times come from the referee, which measures in another process.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "tests/faulty/honest.h"

extern "C" int clock_gettime(clockid_t, timespec* time) noexcept {
  *time = timespec{};
  return 0;
}

namespace {

struct Tables {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * relocations[2] = {};
  size_t bytes[2] = {};
};

Tables read_tables(const link_map* map) {
  Tables tables;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) tables.strings = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_RELA) tables.relocations[0] = reinterpret_cast<ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELASZ) tables.bytes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) tables.relocations[1] = reinterpret_cast<ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) tables.bytes[1] = entry->d_un.d_val;
  }
  return tables;
}

void overwrite(ElfW(Addr) slot) {
  const auto page_bytes = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(slot & ~(page_bytes - 1));
  if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  const auto target = &clock_gettime;
  std::memcpy(reinterpret_cast<void*>(slot), &target, sizeof target);
}

[[gnu::constructor]] void stop_the_clock() {
  const link_map* program = _r_debug.r_map;  // the first map is the player
  const Tables tables = read_tables(program);
  for (int kind = 0; kind < 2; ++kind) {
    for (size_t i = 0; i < tables.bytes[kind] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela) & relocation = tables.relocations[kind][i];
      const ElfW(Sym) & symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
      if (std::strcmp(tables.strings + symbol.st_name, "clock_gettime") == 0) {
        overwrite(program->l_addr + relocation.r_offset);
      }
    }
  }
}

}  // namespace
