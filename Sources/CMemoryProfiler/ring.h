/// The memory that the preloaded library (AllocationSampler) and the supervisor share: a ring of records.
///
/// All processes of the target write to it, and the supervisor reads it meanwhile, so that a sampled allocation does not
/// stop the program (the design of heapprofd in Perfetto, src/profiling/memory). There is no lock: a writer reserves a
/// record and bytes for its data by one compare-and-swap of `head`, fills them, and publishes the record by its `state`.
/// Of a writer that died in between the record is passed over. Nothing that the supervisor finds here is trusted.

#ifndef HW_RING_H
#define HW_RING_H

#include <stdatomic.h>
#include <stdint.h>

/// Marks a breakpoint of the library, in its first register: for what the ring cannot take.
#define HW_STOP_MARK UINT64_C(0x68776d656d6f7279)

/// Powers of two, so that the numbers may wrap.
#define HW_RING_RECORDS 8192u
#define HW_RING_DATA (UINT32_C(4) << 20)

/// The longest copy of a stack: of 1,000 stacks of g++ 998 fit into 16 KiB, but imports in Python need 32 KiB.
#define HW_RING_STACK (UINT32_C(64) << 10)

/// The most functions of a script in a record.
#define HW_RING_FRAMES 128u

/// How many registers a record has: those that a function preserves, then the stack pointer and the program counter.
#if defined(__x86_64__)
#define HW_RING_REGISTERS 8
#else
#define HW_RING_REGISTERS 14
#endif

/// A function that Python runs: what names it later, and shows that it is still the same one then. Of Java only `code` is set,
/// the key under which the log of its heap has the name (HeapLog.swift).
struct hw_ring_frame {
  uint64_t code, instruction, file, function;
  int64_t first_line;
};

/// A sampled allocation, the release of a sampled block, or both: the block at another address, or of another size.
///
/// Its data are the registers, the frames of a script from the innermost, and the stack from its stack pointer; nothing where
/// no stack counts, as of a move.
struct hw_ring_record {
  /// The number of the record plus 1, once it is complete.
  _Atomic uint32_t state;
  /// The address space of the writer, which the library has announced by a breakpoint; 0 before it is written.
  _Atomic uint32_t space;
  /// Where its data begin, and how long they are, in bytes.
  uint32_t data, data_size;
  uint32_t stack_size, frame_count;
  /// The new block, or 0; what the allocator gave for it; and the released one, or 0.
  uint64_t block, size, released;
  /// The mean number of bytes between samples with which it was drawn; 0 for one that has only moved.
  double interval;
  /// How many releases the stack of this one stands for; 0 without a stack.
  uint32_t releases;
} __attribute__((aligned(64)));

struct hw_ring {
  /// The number of the next record in the upper half, and the position after the data of the last one.
  _Atomic uint64_t head __attribute__((aligned(64)));
  /// The same of what the supervisor has read.
  _Atomic uint64_t tail __attribute__((aligned(64)));
  /// The mean number of bytes between samples, which the supervisor sets.
  _Atomic double interval __attribute__((aligned(64)));
  /// The last address space that was announced.
  _Atomic uint32_t spaces;
  /// Whether the supervisor no longer reads.
  _Atomic uint32_t is_closed;
  struct hw_ring_record records[HW_RING_RECORDS];
  uint8_t data[HW_RING_DATA];
};

static inline uint32_t hw_ring_number(uint64_t position) { return (uint32_t)(position >> 32); }
static inline uint32_t hw_ring_position(uint64_t position) { return (uint32_t)position; }

#endif
