#ifndef HW_CURL_SHIM_H
#define HW_CURL_SHIM_H

#include <curl/curl.h>

// Why C: `curl_easy_setopt` and `curl_easy_getinfo` are variadic, and Swift cannot call variadic C functions. Each
// wrapper below fixes the type of the one argument, as curl_easy_setopt(3) and curl_easy_getinfo(3) ask for it.

/// What libcurl calls with a stretch of the answer; a count other than `size * count` ends the transfer.
typedef size_t (*hw_curl_receiver)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);

/// Sets an option whose value is a number or a switch.
static inline CURLcode hw_curl_set_long(CURL *_Nonnull handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets an option whose value is a 64-bit size.
static inline CURLcode hw_curl_set_offset(CURL *_Nonnull handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets an option whose value is a text; libcurl copies it.
static inline CURLcode hw_curl_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nonnull value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets an option whose value is an address that stays the caller's, and must outlive the transfer.
static inline CURLcode hw_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, const void *_Nullable value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets an option whose value is a function that receives parts of the answer.
static inline CURLcode hw_curl_set_receiver(CURL *_Nonnull handle, CURLoption option, hw_curl_receiver _Nonnull value) {
  return curl_easy_setopt(handle, option, value);
}

/// Keeps a transfer, and where a redirect could lead it, to http and https.
///
/// The options that take names came with libcurl 7.85, which made those that take bits deprecated.
static inline CURLcode hw_curl_allow_http_only(CURL *_Nonnull handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
  CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  return code != CURLE_OK
             ? code
             : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// Lets a transfer end while a name is still being looked up, instead of waiting for the resolver's thread.
///
/// Does nothing before libcurl 7.87, which brought the option.
static inline CURLcode hw_curl_leave_resolver_behind(CURL *_Nonnull handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)handle;
  return CURLE_OK;
#endif
}

/// Reads a figure of the last transfer that is a `long`.
static inline CURLcode hw_curl_get_long(CURL *_Nonnull handle, CURLINFO info, long *_Nonnull value) {
  return curl_easy_getinfo(handle, info, value);
}

/// Reads a figure of the last transfer that is a 64-bit size.
static inline CURLcode hw_curl_get_offset(CURL *_Nonnull handle, CURLINFO info, curl_off_t *_Nonnull value) {
  return curl_easy_getinfo(handle, info, value);
}

#endif
