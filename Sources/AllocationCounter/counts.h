/// The file in which each process of a target counts its allocations; `GateProbe/Allocations` reads it.

#ifndef HW_COUNTS_H
#define HW_COUNTS_H

#include <stdint.h>

enum { HW_COUNTS_COUNTING = 1, HW_COUNTS_REPLACED = 2 };

struct hw_counts {
  /// `HW_COUNTS_COUNTING`, or `HW_COUNTS_REPLACED` if the program has an allocator of its own.
  int64_t state;
  /// Successful calls that gave a block.
  int64_t allocations;
  /// The bytes that they asked for.
  int64_t bytes;
  /// The bytes of living blocks, as the allocator rounds them up, and the highest sum so far.
  int64_t living;
  int64_t highest;
  /// 1 for a program that the process has executed, 0 for the copy of one after fork(2).
  int64_t is_executed;
};

#endif
