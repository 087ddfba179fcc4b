/* Pictures of the scene. */
#ifndef IMAGE_H
#define IMAGE_H

#include "apple.h"
#include "text.h"

typedef struct {
  long width, height;
  uint8_t *pixels; /* blue, green, red, alpha; rows follow each other */
} Picture;

/** A PNG file, compressed well enough for flat colours. */
void png_encode(const Picture *picture, Text *out);
/** Width and height of a PNG file; false when it is none. */
bool png_size(const uint8_t *bytes, size_t length, long *width, long *height);

/** A screenshot of this part of the screen: of one window, or of all if `window` is 0. */
Picture picture_of(CGRect area, double scale, uint32_t window);
/** The colour a window is painted in, as 0xrrggbb: tests tell windows apart by it. */
uint32_t window_colour(uint32_t number);

double display_scale_at(CGPoint point);
bool display_at_index(int index, uint32_t *id, CGRect *bounds, double *scale);

#endif
