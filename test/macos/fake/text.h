/* A text that grows, and the two Unicode forms of this library. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  char *chars; /* always ends in NUL once something was added */
  size_t length, room;
} Text;

void text_add(Text *text, const char *chars);
void text_bytes(Text *text, const void *bytes, size_t length);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Adds UTF-8 as a quoted JSON string. */
void text_quote(Text *text, const char *chars);
void text_clear(Text *text);
void text_free(Text *text);

/** UTF-8 to UTF-16. `strict`: −1 for ill-formed text. Otherwise lone surrogates are allowed (WTF-8). */
long utf16_from_utf8(const char *bytes, size_t length, int strict, uint16_t **units);
/** UTF-16 to UTF-8. A lone surrogate: NULL with `strict`, otherwise three bytes (WTF-8). */
char *utf8_from_utf16(const uint16_t *units, size_t length, int strict);

#endif
