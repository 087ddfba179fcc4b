/* Pictures of the scene. */
#ifndef IMAGE_H
#define IMAGE_H

#include "apple.h"
#include "text.h"

typedef struct {
  long width, height;
  uint8_t *pixels; /* blue, green, red, alpha; rows follow each other */
} Picture;

/** Encodes a PNG file. Flat colours are compressed. */
void png_encode(const Picture *picture, Text *out);
/** Width and height of a PNG file; false if it is not one. */
bool png_size(const uint8_t *bytes, size_t length, long *width, long *height);

/** A screenshot of this area: of one window, or of all windows if `window` is 0. */
Picture picture_of(CGRect area, double scale, uint32_t window);
/** The colour of a window in pictures, as 0xrrggbb. Tests distinguish windows by it. */
uint32_t window_colour(uint32_t number);

double display_scale_at(CGPoint point);
bool display_at_index(int index, uint32_t *id, CGRect *bounds, double *scale);

#endif
