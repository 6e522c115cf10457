#ifndef HW_PCRE2_SHIM_H
#define HW_PCRE2_SHIM_H

// Why C: pcre2.h needs the size of its characters in bits as a macro.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#endif
