#ifndef HW_CURL_SHIM_H
#define HW_CURL_SHIM_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

// Why C: `curl_easy_setopt` and `curl_easy_getinfo` are variadic, and Swift cannot call variadic C functions. Each
// wrapper below fixes the type of the one argument, as curl_easy_setopt(3) and curl_easy_getinfo(3) ask for it.

/// The callback for a part of the response; returning other than `size * count` ends the transfer.
typedef size_t (*hw_curl_receiver)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);

/// Sets a numeric or Boolean option.
static inline CURLcode hw_curl_set_long(CURL *_Nonnull handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets an option of type `curl_off_t`.
static inline CURLcode hw_curl_set_offset(CURL *_Nonnull handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets a string option; libcurl copies the string.
static inline CURLcode hw_curl_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nonnull value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets a pointer option; the caller keeps the memory valid until the transfer ends.
static inline CURLcode hw_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, const void *_Nullable value) {
  return curl_easy_setopt(handle, option, value);
}

/// Sets a callback that receives parts of the response.
static inline CURLcode hw_curl_set_receiver(CURL *_Nonnull handle, CURLoption option, hw_curl_receiver _Nonnull value) {
  return curl_easy_setopt(handle, option, value);
}

/// Restricts a transfer and its redirects to http and https.
///
/// libcurl 7.85 introduced the options that take names and deprecated those that take bits.
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

/// Lets a transfer end during a name resolution without waiting for the resolver thread.
///
/// Does nothing before libcurl 7.87, which introduced the option.
static inline CURLcode hw_curl_set_quick_exit(CURL *_Nonnull handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
  return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
  (void)handle;
  return CURLE_OK;
#endif
}

/// Reads a value of type `long` about the last transfer.
static inline CURLcode hw_curl_get_long(CURL *_Nonnull handle, CURLINFO info, long *_Nonnull value) {
  return curl_easy_getinfo(handle, info, value);
}

/// Reads a value of type `curl_off_t` about the last transfer.
static inline CURLcode hw_curl_get_offset(CURL *_Nonnull handle, CURLINFO info, curl_off_t *_Nonnull value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline int hw_curl_remember(void *_Nullable place, curl_socket_t connection, curlsocktype purpose) {
  if (place != NULL && purpose == CURLSOCKTYPE_IPCXN) *(curl_socket_t *)place = connection;
  return CURL_SOCKOPT_OK;
}

/// Stores the socket of each new connection, so that it is known while a later transfer uses it again.
///
/// `CURLINFO_ACTIVESOCKET` does not tell it before the end of a transfer of the multi interface.
static inline CURLcode hw_curl_remember_connection(CURL *_Nonnull handle, curl_socket_t *_Nonnull place) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, place);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, hw_curl_remember);
}

/// Acknowledges at once what a connection has received (tcp(7), TCP_QUICKACK); an error costs only time.
///
/// A server that writes the headers and the body of a response apart otherwise waits for a delayed acknowledgement of
/// 40 ms in between, in each response on a connection that is used again (Nagle's algorithm): 50 ms a request with the
/// server of the JDK.
static inline void hw_curl_acknowledge(curl_socket_t connection) {
  const int on = 1;
  if (connection != CURL_SOCKET_BAD) (void)setsockopt(connection, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

#endif
