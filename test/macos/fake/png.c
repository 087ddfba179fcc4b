#include "image.h"

#include <stdlib.h>
#include <string.h>

/* Deflate with the fixed code and runs of one byte, which is enough for flat colours. */

typedef struct {
  Text *out;
  uint32_t held;
  int count;
} Bits;

static void put_bits(Bits *bits, uint32_t value, int count) {
  bits->held |= value << bits->count;
  for (bits->count += count; bits->count >= 8; bits->count -= 8, bits->held >>= 8) text_bytes(bits->out, &(uint8_t){(uint8_t)bits->held}, 1);
}

/** Writes a Huffman code, its first bit first. */
static void put_code(Bits *bits, uint32_t code, int count) {
  uint32_t turned = 0;
  for (int i = 0; i < count; i++) turned |= (code >> i & 1) << (count - 1 - i);
  put_bits(bits, turned, count);
}

static void put_literal(Bits *bits, uint8_t byte) {
  if (byte < 144) put_code(bits, 0x30u + byte, 8);
  else put_code(bits, 0x190u + byte - 144u, 9);
}

static void deflate(const uint8_t *bytes, size_t length, Text *out) {
  Bits bits = {out, 0, 0};
  put_bits(&bits, 1, 1); /* the last block */
  put_bits(&bits, 1, 2); /* fixed codes */
  for (size_t i = 0; i < length;) {
    size_t run = 1;
    while (i + run < length && bytes[i + run] == bytes[i] && run < 259) run++;
    put_literal(&bits, bytes[i++]);
    if (run == 259) { /* the byte and 258 more at distance 1 */
      put_code(&bits, 0xc0u + 285 - 280, 8);
      put_code(&bits, 0, 5);
      i += 258;
    } else if (run > 4) { /* lengths 3 to 10 need no extra bits */
      size_t more = run - 1 > 10 ? 10 : run - 1;
      put_code(&bits, (uint32_t)(more - 2), 7);
      put_code(&bits, 0, 5);
      i += more;
    }
  }
  put_code(&bits, 0, 7);
  put_bits(&bits, 0, 7); /* the last byte is filled up */
}

static uint32_t crc(const uint8_t *bytes, size_t length) {
  uint32_t sum = 0xffffffffu;
  for (size_t i = 0; i < length; i++) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
  }
  return ~sum;
}

static void big_endian(Text *out, uint32_t value) {
  uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
  text_bytes(out, bytes, 4);
}

static void chunk(Text *out, const char *type, const Text *contents) {
  big_endian(out, (uint32_t)contents->length);
  size_t start = out->length;
  text_bytes(out, type, 4);
  if (contents->length) text_bytes(out, contents->chars, contents->length);
  big_endian(out, crc((const uint8_t *)out->chars + start, out->length - start));
}

void png_encode(const Picture *picture, Text *out) {
  Text header = {0}, body = {0}, none = {0};
  big_endian(&header, (uint32_t)picture->width);
  big_endian(&header, (uint32_t)picture->height);
  text_bytes(&header, "\x08\x06\x00\x00\x00", 5); /* eight bits, red green blue alpha */
  size_t row = (size_t)picture->width * 4, stride = row + 1;
  uint8_t *filtered = calloc((size_t)picture->height + 1, stride);
  for (long y = 0; y < picture->height; y++) {
    uint8_t *to = filtered + (size_t)y * stride;
    *to++ = 1; /* each pixel less its left neighbour: flat colours become zeros */
    const uint8_t *from = picture->pixels + (size_t)y * row;
    for (long x = 0; x < picture->width; x++, from += 4) {
      const uint8_t order[4] = {2, 1, 0, 3};
      for (int i = 0; i < 4; i++) *to++ = (uint8_t)(from[order[i]] - (x ? from[order[i] - 4] : 0));
    }
  }
  size_t length = (size_t)picture->height * stride;
  text_bytes(&body, "\x78\x01", 2);
  deflate(filtered, length, &body);
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < length; i++) {
    a = (a + filtered[i]) % 65521;
    b = (b + a) % 65521;
  }
  big_endian(&body, b << 16 | a);
  text_bytes(out, "\x89PNG\r\n\x1a\n", 8);
  chunk(out, "IHDR", &header);
  chunk(out, "IDAT", &body);
  chunk(out, "IEND", &none);
  free(filtered);
  text_free(&header);
  text_free(&body);
}

bool png_size(const uint8_t *bytes, size_t length, long *width, long *height) {
  if (length < 24 || memcmp(bytes, "\x89PNG\r\n\x1a\n", 8)) return false;
  *width = (long)bytes[16] << 24 | bytes[17] << 16 | bytes[18] << 8 | bytes[19];
  *height = (long)bytes[20] << 24 | bytes[21] << 16 | bytes[22] << 8 | bytes[23];
  return true;
}
