#include "empty_icu_data.h"

#include <stdint.h>

/// A package of data without entries: the header of any ICU data (`udata.h`, `ucmndata.h`), and a table of contents of length 0.
///
/// The name has the version of ICU that the toolchain has. With another one it is not used, and the program is as large as
/// before.
struct hw_icu_data {
  uint16_t header_size;
  uint8_t magic[2];
  struct {
    uint16_t size, reserved;
    uint8_t is_big_endian, charset, character_size, reserved_too;
    char format[4];
    uint8_t format_version[4], data_version[4];
  } info;
  uint64_t padding;
  uint32_t entry_count, entries[3];
};

__attribute__((visibility("hidden"))) const struct hw_icu_data icudt76_dat = {
  .header_size = 32,
  .magic = {0xda, 0x27},
  .info =
    {.size = 20,
     .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
     .character_size = 2,
     .format = {'T', 'o', 'C', 'P'},
     .format_version = {1}},
};
