#ifndef HW_CURL_SHIM_H
#define HW_CURL_SHIM_H
#include <curl/curl.h>
#endif
