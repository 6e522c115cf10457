#ifndef HW_CLINUX_H
#define HW_CLINUX_H
#endif
