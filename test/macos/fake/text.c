#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void grow(Text *text, size_t more) {
  if (text->length + more + 1 <= text->room) return;
  text->room = (text->length + more + 1) * 2;
  text->chars = realloc(text->chars, text->room);
}

void text_bytes(Text *text, const void *bytes, size_t length) {
  grow(text, length);
  memcpy(text->chars + text->length, bytes, length);
  text->length += length;
  text->chars[text->length] = 0;
}

void text_add(Text *text, const char *chars) { text_bytes(text, chars, strlen(chars)); }

void text_printf(Text *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int needed = vsnprintf(NULL, 0, format, list);
  va_end(list);
  grow(text, (size_t)needed);
  va_start(list, format);
  vsnprintf(text->chars + text->length, (size_t)needed + 1, format, list);
  va_end(list);
  text->length += (size_t)needed;
}

void text_quote(Text *text, const char *chars) {
  text_add(text, "\"");
  for (const unsigned char *at = (const unsigned char *)chars; *at; at++) {
    if (*at == '"' || *at == '\\') text_printf(text, "\\%c", *at);
    else if (*at == '\n') text_add(text, "\\n");
    else if (*at < 0x20) text_printf(text, "\\u%04x", *at);
    else if (*at == 0xed && at[1] >= 0xa0) { /* a lone surrogate is not valid UTF-8 and must be escaped */
      text_printf(text, "\\u%04x", 0xd000 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f));
      at += 2;
    } else text_bytes(text, at, 1);
  }
  text_add(text, "\"");
}

void text_clear(Text *text) {
  text->length = 0;
  if (text->chars) text->chars[0] = 0;
}

void text_free(Text *text) {
  free(text->chars);
  *text = (Text){0};
}

static int continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

long utf16_from_utf8(const char *bytes, size_t length, int strict, uint16_t **units) {
  const unsigned char *in = (const unsigned char *)bytes, *end = in + length;
  uint16_t *out = malloc((length + 1) * sizeof *out);
  long count = 0;
  while (in < end) {
    uint32_t point = *in;
    int more = point < 0x80 ? 0 : point < 0xc2 ? -1 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : point < 0xf5 ? 3 : -1;
    if (more < 0 || end - in <= more) goto bad;
    if (more) point &= 0x3fu >> more;
    for (int i = 1; i <= more; i++) {
      if (!continuation(in[i])) goto bad;
      point = point << 6 | (in[i] & 0x3f);
    }
    if ((more == 2 && point < 0x800) || (more == 3 && (point < 0x10000 || point > 0x10ffff))) goto bad;
    if (strict && point >= 0xd800 && point < 0xe000) goto bad;
    in += more + 1;
    if (point >= 0x10000) {
      out[count++] = (uint16_t)(0xd7c0 + (point >> 10));
      out[count++] = (uint16_t)(0xdc00 | (point & 0x3ff));
    } else out[count++] = (uint16_t)point;
  }
  *units = out;
  return count;
bad:
  free(out);
  *units = NULL;
  return -1;
}

char *utf8_from_utf16(const uint16_t *units, size_t length, int strict) {
  char *out = malloc(length * 3 + 1), *at = out;
  for (size_t i = 0; i < length; i++) {
    uint32_t point = units[i];
    int high = point >= 0xd800 && point < 0xdc00, low = point >= 0xdc00 && point < 0xe000;
    if (high && i + 1 < length && units[i + 1] >= 0xdc00 && units[i + 1] < 0xe000) {
      point = 0x10000 + ((point - 0xd800) << 10) + (units[++i] - 0xdc00u);
    } else if ((high || low) && strict) {
      free(out);
      return NULL;
    }
    if (point < 0x80) *at++ = (char)point;
    else if (point < 0x800) { *at++ = (char)(0xc0 | point >> 6); *at++ = (char)(0x80 | (point & 0x3f)); }
    else if (point < 0x10000) {
      *at++ = (char)(0xe0 | point >> 12);
      *at++ = (char)(0x80 | (point >> 6 & 0x3f));
      *at++ = (char)(0x80 | (point & 0x3f));
    } else {
      *at++ = (char)(0xf0 | point >> 18);
      *at++ = (char)(0x80 | (point >> 12 & 0x3f));
      *at++ = (char)(0x80 | (point >> 6 & 0x3f));
      *at++ = (char)(0x80 | (point & 0x3f));
    }
  }
  *at = 0;
  return out;
}
