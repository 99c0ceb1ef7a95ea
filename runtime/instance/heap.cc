// Implements heap.h: cuts small blocks of a size class from spans, cuts spans from chunks, and
// takes large blocks from the C library.
#include "runtime/instance/heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>

#include "runtime/instance/grace.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace keydrome::runtime {

namespace {

// A sanitizer finds errors only in blocks that it has allocated itself. So under sanitizers, all
// blocks come from the C library.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Structures may keep numbers in the unused bits of their pointers, and the leak sanitizer cannot
// follow such pointers. The structures of a runtime exist until the process ends, so the sanitizer
// would report their blocks as leaks. Therefore the sanitizer must ignore all blocks. To find
// leaks, the contract test of structures notes every block, and reports those never retired.
void hide_from_leak_sanitizer([[maybe_unused]] const void* memory) {
#if defined(__SANITIZE_ADDRESS__)
  if (memory != nullptr) __lsan_ignore_object(memory);
#endif
}

// Up to kFineMax, the sizes of classes are the multiples of 8. Above, there are sixteen classes
// between two powers of two.
constexpr size_t kFinePower = 8;
constexpr size_t kFineMax = size_t{1} << kFinePower;
constexpr size_t kFineClasses = kFineMax / 8;
constexpr size_t kPartBits = 4;

void* allocate_large(size_t size, size_t alignment) {
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

// The heap's first chunks have small pages. A heap of a few records would otherwise take 2 MiB at
// its first block.
constexpr size_t kSmallPageChunks = 2;

// Asks the kernel to put a chunk on one transparent huge page. Random reads then miss the TLB less
// often. On a virtual machine, each such miss costs two page walks. The result is ignored, because
// the memory is usable even if the kernel refuses.
void ask_for_huge_page(void* chunk, size_t bytes) {
  static_cast<void>(madvise(chunk, bytes, MADV_HUGEPAGE));
}

void* environment_allocate(void* context, size_t size, size_t alignment) {
  return static_cast<Heap*>(context)->allocate(size, alignment);
}

void environment_retire(void* context, void* memory, size_t size, size_t alignment) {
  Heap& heap = *static_cast<Heap*>(context);
  if (!CallSlot::keep(heap, memory, size, alignment)) heap.free(memory, size, alignment);
}

}  // namespace

Heap::Heap()
    : environment_{sizeof(KeydromeEnvironment), 0, this, environment_allocate, environment_retire},
      shards_(std::make_unique<Shard[]>(kShards)) {}

Heap::~Heap() {
  for (void* chunk : chunks_) std::free(chunk);
}

// Precondition: 0 < size <= kSmallMax.
size_t Heap::class_of(size_t size) {
  if (size <= kFineMax) return (size - 1) / 8;
  const auto power = static_cast<size_t>(std::bit_width(size - 1)) - 1;  // 2^power < size
  const size_t part = (size - 1 - (size_t{1} << power)) >> (power - kPartBits);
  return kFineClasses + ((power - kFinePower) << kPartBits) + part;
}

// The inverse of class_of(): returns the largest size in the class.
size_t Heap::block_bytes(size_t number) {
  if (number < kFineClasses) return (number + 1) * 8;
  const size_t power = kFinePower + ((number - kFineClasses) >> kPartBits);
  const size_t part = (number - kFineClasses) % (size_t{1} << kPartBits);
  return (size_t{1} << power) + ((part + 1) << (power - kPartBits));
}

// Sets `number` to the first class whose blocks are large enough and aligned. Blocks lie one after
// the other in an aligned span, so they are aligned if their size is a multiple of the alignment.
// Returns false if there is no such class.
bool Heap::small_class(size_t size, size_t alignment, size_t& number) {
  if (kSanitized || size > kSmallMax || alignment > kSmallMax) return false;
  number = class_of(std::max(size, kSmallMin));
  if (alignment <= 8) return true;
  while (block_bytes(number) % alignment != 0) {
    if (++number == kClasses) return false;
  }
  return true;
}

Heap::Shard& Heap::shard() {
  static std::atomic<uint32_t> threads = 0;
  // Each thread takes the next shard, so that few threads share one.
  [[gnu::tls_model("initial-exec")]] thread_local const uint32_t t_number =
      threads.fetch_add(1, std::memory_order_relaxed);
  return shards_[t_number % kShards];
}

void Heap::count(Shard& shard, int64_t bytes) {
  shard.bytes.store(shard.bytes.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

void* Heap::allocate(size_t size, size_t alignment) {
  size_t number = 0;
  const bool small = small_class(size, alignment, number);
  void* large = small ? nullptr : allocate_large(size, alignment);
  if (!small && large == nullptr) return nullptr;
  hide_from_leak_sanitizer(large);
  Shard& own = shard();
  const std::lock_guard<SpinLock> guard(own.lock);
  void* memory = small ? take(own, number) : large;
  if (memory != nullptr) count(own, static_cast<int64_t>(size));
  return memory;
}

// Takes a block of size class `number`. The caller has the shard's lock.
void* Heap::take(Shard& shard, size_t number) {
  Class& blocks = shard.classes[number];
  if (blocks.list != nullptr) {
    Free* block = blocks.list;
    blocks.list = block->next;
    --blocks.listed;
    return block;
  }
  if (Free* batch = take_batch(number)) {
    blocks.list = batch->next;
    blocks.listed = kBatch - 1;
    return batch;
  }
  const size_t bytes = block_bytes(number);
  if (static_cast<size_t>(blocks.end - blocks.at) < bytes && !take_span(blocks)) return nullptr;
  void* block = blocks.at;
  blocks.at += bytes;
  return block;
}

Heap::Free* Heap::take_batch(size_t number) {
  const std::lock_guard<SpinLock> guard(common_lock_);
  Free* batch = batches_[number];
  if (batch != nullptr) batches_[number] = batch->next_batch;
  return batch;
}

// Moves the first kBatch blocks of the list to batches_. The caller has the shard's lock.
void Heap::give_away(Class& blocks, size_t number) {
  Free* batch = blocks.list;
  Free* last = batch;
  for (uint32_t i = 1; i < kBatch; ++i) last = last->next;
  blocks.list = last->next;
  blocks.listed -= kBatch;
  last->next = nullptr;
  const std::lock_guard<SpinLock> guard(common_lock_);
  batch->next_batch = batches_[number];
  batches_[number] = batch;
}

// Gives the class a new span of about an eighth of its memory in this shard. So the unused parts of
// spans stay small, even if many shards use many classes. Returns false if memory is exhausted.
bool Heap::take_span(Class& blocks) {
  const std::lock_guard<SpinLock> guard(common_lock_);
  if (span_at_ == span_end_) {
    try {
      chunks_.reserve(chunks_.size() + 1);
    } catch (const std::bad_alloc&) {
      return false;
    }
    void* chunk = allocate_large(kChunk, kChunk);
    if (chunk == nullptr) return false;
    if (chunks_.size() >= kSmallPageChunks) ask_for_huge_page(chunk, kChunk);
    chunks_.push_back(chunk);
    chunk_bytes_ += kChunk;
    span_at_ = static_cast<uint8_t*>(chunk);
    span_end_ = span_at_ + kChunk;
  }
  const size_t wish = std::clamp(blocks.bytes / 8 / kSpanMin * kSpanMin, kSpanMin, kSpanMax);
  const size_t bytes = std::min(wish, static_cast<size_t>(span_end_ - span_at_));
  blocks.bytes += bytes;
  blocks.at = span_at_;
  blocks.end = span_at_ += bytes;
  return true;
}

void Heap::free(void* memory, size_t size, size_t alignment) {
  size_t number = 0;
  const bool small = small_class(size, alignment, number);
  if (!small) std::free(memory);
  Shard& own = shard();
  const std::lock_guard<SpinLock> guard(own.lock);
  count(own, -static_cast<int64_t>(size));
  if (!small) return;
  Class& blocks = own.classes[number];
  blocks.list = new (memory) Free{blocks.list, nullptr};
  if (++blocks.listed == 2 * kBatch) give_away(blocks, number);
}

uint64_t Heap::bytes() const {
  int64_t bytes = 0;
  for (size_t at = 0; at < kShards; ++at) {
    bytes += shards_[at].bytes.load(std::memory_order_relaxed);
  }
  return static_cast<uint64_t>(bytes);
}

}  // namespace keydrome::runtime
