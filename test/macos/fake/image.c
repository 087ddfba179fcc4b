/* CGImage, bitmap contexts and ImageIO, for screenshots only. */
#include "image.h"
#include "foundation.h"
#include "record.h"
#include "trip.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALLPAPER 0x204060u

API Ref kCGImagePropertyPixelWidth, kCGImagePropertyPixelHeight, kCGColorSpaceSRGB;

uint32_t window_colour(uint32_t number) {
  uint32_t mixed = number * 2654435761u;
  return (mixed >> 8 & 0xffffffu) | 0x404040u;
}

static void paint(Picture *picture, CGRect area, double scale, CGRect rect, uint32_t colour) {
  long left = (long)((rect.origin.x - area.origin.x) * scale), top = (long)((rect.origin.y - area.origin.y) * scale);
  long right = left + (long)(rect.size.width * scale), bottom = top + (long)(rect.size.height * scale);
  for (long y = top < 0 ? 0 : top; y < bottom && y < picture->height; y++)
    for (long x = left < 0 ? 0 : left; x < right && x < picture->width; x++) {
      uint8_t *pixel = picture->pixels + (size_t)(y * picture->width + x) * 4;
      pixel[0] = (uint8_t)colour;
      pixel[1] = (uint8_t)(colour >> 8);
      pixel[2] = (uint8_t)(colour >> 16);
      pixel[3] = 255;
    }
}

/** Without the permission to record the screen, the picture shows only the wallpaper, and there is no error. */
Picture picture_of(CGRect area, double scale, uint32_t only) {
  Picture picture = {(long)(area.size.width * scale), (long)(area.size.height * scale), NULL};
  picture.pixels = calloc((size_t)(picture.width * picture.height + 1), 4);
  paint(&picture, area, scale, area, WALLPAPER);
  Node **windows;
  int count = windows_stacked(&windows);
  for (int i = count; trusted("screen") && i-- > 0;) {
    if (only ? windows[i]->number != only : !window_on_screen(windows[i])) continue;
    paint(&picture, area, scale, node_frame(windows[i]), window_colour(windows[i]->number));
  }
  return picture;
}

/* Images */

typedef struct {
  Picture picture;
  Object *provider; /* made when asked for, gone with the image */
} ImageState;

static Object *image_new(Picture picture) {
  Object *image = object_new(IMAGE, false);
  ImageState *state = calloc(1, sizeof *state);
  state->picture = picture;
  image->as.extra.state = state;
  return image;
}

static void image_finalize(Object *image) {
  ImageState *state = image->as.extra.state;
  object_drop(state->provider);
  free(state->picture.pixels);
  free(state);
}

static void context_finalize(Object *context) { free(context->as.extra.state); }
static void destination_finalize(Object *destination) { object_drop(destination->as.holder.inner), object_drop(destination->as.holder.other); }

static void color_finalize(Object *color);

void image_init(void) {
  traits[COLOR] = (Traits){"CGColor", 346, "NSObject", color_finalize, NULL, NULL, NULL};
  traits[IMAGE] = (Traits){"CGImage", 340, "NSObject", image_finalize, NULL, NULL, NULL};
  traits[PROVIDER] = (Traits){"CGDataProvider", 341, "NSObject", NULL, NULL, NULL, NULL};
  traits[CONTEXT] = (Traits){"CGContext", 342, "NSObject", context_finalize, NULL, NULL, NULL};
  traits[COLOR_SPACE] = (Traits){"CGColorSpace", 343, "NSObject", NULL, NULL, NULL, NULL};
  traits[DESTINATION] = (Traits){"CGImageDestination", 344, "NSObject", destination_finalize, NULL, NULL, NULL};
  traits[IMAGE_SOURCE] = (Traits){"CGImageSource", 345, "NSObject", destination_finalize, NULL, NULL, NULL};
  kCGImagePropertyPixelWidth = string_constant("PixelWidth");
  kCGImagePropertyPixelHeight = string_constant("PixelHeight");
  kCGColorSpaceSRGB = string_constant("kCGColorSpaceSRGB");
}

static Picture *picture_in(Ref ref) {
  Object *image = use(ref, IMAGE, "image");
  return image ? &((ImageState *)image->as.extra.state)->picture : NULL;
}

API size_t CGImageGetWidth(Ref ref) {
  ENTER;
  Picture *picture = picture_in(ref);
  return picture ? (size_t)picture->width : 0;
}

API size_t CGImageGetHeight(Ref ref) {
  ENTER;
  Picture *picture = picture_in(ref);
  return picture ? (size_t)picture->height : 0;
}

API size_t CGImageGetBytesPerRow(Ref ref) {
  ENTER;
  Picture *picture = picture_in(ref);
  return picture ? (size_t)picture->width * 4 : 0;
}

API size_t CGImageGetBitsPerPixel(Ref ref) {
  ENTER;
  return picture_in(ref) ? 32 : 0;
}

API uint32_t CGImageGetBitmapInfo(Ref ref) {
  ENTER;
  return picture_in(ref) ? 8194 : 0; /* 32 bits little endian, alpha first and premultiplied */
}

API Ref CGImageRetain(Ref ref) {
  ENTER;
  Object *image = ref ? use(ref, IMAGE, "image") : NULL;
  if (image) object_own(image);
  return ref;
}

API void CGImageRelease(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

API Ref CGImageGetDataProvider(Ref ref) {
  ENTER;
  Object *image = use(ref, IMAGE, "image");
  if (!image) return NULL;
  ImageState *state = image->as.extra.state;
  if (!state->provider) {
    state->provider = object_adopt(object_new(PROVIDER, false));
    state->provider->as.extra.state = &state->picture;
  }
  return ref_of(state->provider);
}

API Ref CGDataProviderCopyData(Ref ref) {
  ENTER;
  Object *provider = use(ref, PROVIDER, "provider");
  if (!provider) return NULL;
  Picture *picture = provider->as.extra.state;
  return ref_of(bytes_new(picture->pixels, picture->width * picture->height * 4));
}

API void CGDataProviderRelease(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

static Picture cut(const Picture *from, CGRect rect) {
  Picture part = {(long)rect.size.width, (long)rect.size.height, NULL};
  part.pixels = calloc((size_t)(part.width * part.height + 1), 4);
  for (long y = 0; y < part.height; y++)
    for (long x = 0; x < part.width; x++) {
      long fx = x + (long)rect.origin.x, fy = y + (long)rect.origin.y;
      if (fx < 0 || fy < 0 || fx >= from->width || fy >= from->height) continue;
      memcpy(part.pixels + (size_t)(y * part.width + x) * 4, from->pixels + (size_t)(fy * from->width + fx) * 4, 4);
    }
  return part;
}

API Ref CGImageCreateWithImageInRect(Ref ref, CGRect rect) {
  ENTER;
  Picture *picture = picture_in(ref);
  return picture ? ref_of(image_new(cut(picture, rect))) : NULL;
}

static bool is_null(CGRect rect) { return rect.size.width <= 0 || rect.size.height <= 0; }

API Ref CGWindowListCreateImage(CGRect area, uint32_t options, uint32_t number, uint32_t image_options) {
  ENTER;
  world_turn();
  bool nominal = image_options & 16;
  Node *window = options & 8 ? window_by_number(number) : NULL;
  if (options & 8 && !window) return NULL;
  uint32_t id;
  CGRect bounds;
  double scale;
  display_at_index(0, &id, &bounds, &scale);
  if (is_null(area)) area = window ? node_frame(window) : bounds;
  return ref_of(image_new(picture_of(area, nominal ? 1 : display_scale_at(area.origin), window ? number : 0)));
}

API Ref CGWindowListCreateImageFromArray(CGRect area, Ref windows, uint32_t options) {
  ENTER;
  (void)options;
  if (!use(windows, ARRAY, "windowArray") || is_null(area)) return NULL;
  return ref_of(image_new(picture_of(area, display_scale_at(area.origin), 0)));
}

API Ref CGDisplayCreateImage(uint32_t display) {
  ENTER;
  world_turn();
  uint32_t id;
  CGRect bounds;
  double scale;
  for (int i = 0; display_at_index(i, &id, &bounds, &scale); i++)
    if (id == display) return ref_of(image_new(picture_of(bounds, scale, 0)));
  return NULL;
}

API Ref CGDisplayCreateImageForRect(uint32_t display, CGRect area) {
  ENTER;
  (void)display;
  world_turn();
  return ref_of(image_new(picture_of(area, display_scale_at(area.origin), 0)));
}

/* Bitmap contexts: the caller's memory, or our own */

typedef struct {
  uint8_t *pixels;
  size_t width, height, row;
} ContextState;

API Ref CGColorSpaceCreateDeviceRGB(void) {
  ENTER;
  return ref_of(object_new(COLOR_SPACE, false));
}

API Ref CGColorSpaceCreateWithName(Ref name) {
  ENTER;
  return use(name, STRING, "name") ? ref_of(object_new(COLOR_SPACE, false)) : NULL;
}

Object *color_new(const double *components, int count) {
  Object *color = object_new(COLOR, false);
  color->as.bytes.length = count * (CFIndex)sizeof *components;
  color->as.bytes.bytes = memcpy(malloc((size_t)color->as.bytes.length), components, (size_t)color->as.bytes.length);
  return color;
}

static void color_finalize(Object *color) { free(color->as.bytes.bytes); }

API CFTypeID CGColorGetTypeID(void) { return traits[COLOR].type; }

API size_t CGColorGetNumberOfComponents(Ref ref) {
  ENTER;
  Object *color = use(ref, COLOR, "color");
  return color ? (size_t)color->as.bytes.length / sizeof(double) : 0;
}

enum { GREY, RGB, CMYK, MODELS };
static Object *spaces[MODELS];

/** By the number of components, one of which is the alpha. The colour owns its space. */
API Ref CGColorGetColorSpace(Ref ref) {
  ENTER;
  Object *color = use(ref, COLOR, "color");
  if (!color) return NULL;
  CFIndex count = color->as.bytes.length / (CFIndex)sizeof(double);
  int model = count == 2 ? GREY : count == 5 ? CMYK : RGB;
  if (!spaces[model]) {
    spaces[model] = object_constant(object_new(COLOR_SPACE, false));
    spaces[model]->as.holder.number = model;
  }
  return ref_of(spaces[model]);
}

API int32_t CGColorSpaceGetModel(Ref ref) {
  ENTER;
  Object *space = use(ref, COLOR_SPACE, "space");
  return space ? (int32_t)space->as.holder.number : -1;
}

/** Valid until the colour is released. */
API const double *CGColorGetComponents(Ref ref) {
  ENTER;
  Object *color = use(ref, COLOR, "color");
  return color ? (const double *)color->as.bytes.bytes : NULL;
}

API void CGColorSpaceRelease(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

API Ref CGBitmapContextCreate(void *memory, size_t width, size_t height, size_t bits, size_t row, Ref space, uint32_t info) {
  ENTER;
  (void)info;
  if (!use(space, COLOR_SPACE, "space") || bits != 8) return NULL;
  Object *context = object_new(CONTEXT, false);
  if (!row) row = width * 4;
  ContextState *state = calloc(1, sizeof *state + (memory ? 0 : row * height));
  *state = (ContextState){memory ? memory : (uint8_t *)(state + 1), width, height, row};
  context->as.extra.state = state;
  return ref_of(context);
}

API void CGContextDrawImage(Ref ref, CGRect rect, Ref image_ref) {
  ENTER;
  Object *context = use(ref, CONTEXT, "c");
  Picture *picture = picture_in(image_ref);
  if (!context || !picture || is_null(rect)) return;
  ContextState *state = context->as.extra.state;
  for (size_t y = 0; y < state->height; y++)
    for (size_t x = 0; x < state->width; x++) {
      long fx = (long)(((double)x - rect.origin.x) * (double)picture->width / rect.size.width);
      long fy = (long)(((double)y - rect.origin.y) * (double)picture->height / rect.size.height);
      if (fx < 0 || fy < 0 || fx >= picture->width || fy >= picture->height) continue;
      memcpy(state->pixels + y * state->row + x * 4, picture->pixels + (size_t)(fy * picture->width + fx) * 4, 4);
    }
}

API Ref CGBitmapContextCreateImage(Ref ref) {
  ENTER;
  Object *context = use(ref, CONTEXT, "context");
  if (!context) return NULL;
  ContextState *state = context->as.extra.state;
  Picture picture = {(long)state->width, (long)state->height, calloc(state->width * state->height + 1, 4)};
  for (size_t y = 0; y < state->height; y++) memcpy(picture.pixels + y * state->width * 4, state->pixels + y * state->row, state->width * 4);
  return ref_of(image_new(picture));
}

API void CGContextRelease(Ref ref) {
  ENTER;
  if (ref) release(ref);
}

/* ImageIO: PNG only */

static Object *destination_new(Ref target, Ref type) {
  Object *destination = object_new(DESTINATION, false);
  if (!string_is(use(type, STRING, "type"), "public.png")) breach("unsupported", "only public.png is modelled");
  destination->as.holder.inner = object_hold(peek(target));
  return destination;
}

API Ref CGImageDestinationCreateWithData(Ref bytes, Ref type, size_t count, Ref options) {
  ENTER;
  (void)count, (void)options;
  return use(bytes, BYTES, "data") ? ref_of(destination_new(bytes, type)) : NULL;
}

API Ref CGImageDestinationCreateWithURL(Ref url, Ref type, size_t count, Ref options) {
  ENTER;
  (void)count, (void)options;
  return use(url, URL, "url") ? ref_of(destination_new(url, type)) : NULL;
}

API void CGImageDestinationAddImage(Ref ref, Ref image_ref, Ref properties) {
  ENTER;
  (void)properties;
  Object *destination = use(ref, DESTINATION, "idst"), *image = use(image_ref, IMAGE, "image");
  if (destination && image && !destination->as.holder.other) destination->as.holder.other = object_hold(image);
}

API void CGImageDestinationSetProperties(Ref ref, Ref properties) {
  ENTER;
  use(ref, DESTINATION, "idst");
  if (properties) use(properties, DICTIONARY, "properties");
}

static bool save(const char *path, const Text *png) {
  FILE *file = path ? fopen(path, "wb") : NULL;
  if (!file) return false;
  bool whole = fwrite(png->chars, 1, png->length, file) == png->length;
  return fclose(file) == 0 && whole;
}

API bool CGImageDestinationFinalize(Ref ref) {
  ENTER;
  Object *destination = use(ref, DESTINATION, "idst");
  if (!destination || !destination->as.holder.other) return false;
  Text png = {0};
  png_encode(&((ImageState *)destination->as.holder.other->as.extra.state)->picture, &png);
  Object *target = destination->as.holder.inner;
  bool done = true;
  if (target->kind == BYTES) bytes_append(target, png.chars, (CFIndex)png.length);
  else {
    char *path = url_path(target);
    done = save(path, &png);
    free(path);
  }
  text_free(&png);
  return done;
}

API Ref CGImageSourceCreateWithData(Ref bytes, Ref options) {
  ENTER;
  (void)options;
  Object *data = use(bytes, BYTES, "data");
  if (!data) return NULL;
  Object *source = object_new(IMAGE_SOURCE, false);
  source->as.holder.inner = object_hold(data);
  return ref_of(source);
}

static bool source_size(Ref ref, long *width, long *height) {
  Object *source = use(ref, IMAGE_SOURCE, "isrc");
  return source && png_size(source->as.holder.inner->as.bytes.bytes, (size_t)source->as.holder.inner->as.bytes.length, width, height);
}

API size_t CGImageSourceGetCount(Ref ref) {
  ENTER;
  long width, height;
  return source_size(ref, &width, &height);
}

API int32_t CGImageSourceGetStatus(Ref ref) {
  ENTER;
  long width, height;
  return source_size(ref, &width, &height) ? 0 : -3;
}

API Ref CGImageSourceGetType(Ref ref) {
  ENTER;
  static Ref png;
  long width, height;
  if (!png) png = string_constant("public.png");
  return source_size(ref, &width, &height) ? png : NULL;
}

API Ref CGImageSourceCopyPropertiesAtIndex(Ref ref, size_t index, Ref options) {
  ENTER;
  (void)options;
  long width, height;
  if (index || !source_size(ref, &width, &height)) return NULL;
  Object *properties = dictionary_new();
  dictionary_put_new(properties, "PixelWidth", number_new_integer(width));
  dictionary_put_new(properties, "PixelHeight", number_new_integer(height));
  return ref_of(properties);
}

/* Only the size is decoded. The image is blank. */
static Ref blank_image(Ref ref, size_t index) {
  long width, height;
  if (index || !source_size(ref, &width, &height)) return NULL;
  return ref_of(image_new((Picture){width, height, calloc((size_t)(width * height + 1), 4)}));
}

API Ref CGImageSourceCreateImageAtIndex(Ref ref, size_t index, Ref options) {
  ENTER;
  (void)options;
  return blank_image(ref, index);
}

API Ref CGImageSourceCreateThumbnailAtIndex(Ref ref, size_t index, Ref options) {
  ENTER;
  (void)options;
  return blank_image(ref, index);
}

/** For the screencapture program: the window with this number, else the area, else a display (1 is the main one). */
API int fakemac_capture(const char *path, uint32_t number, int display, const double *area_given) {
  ENTER;
  world_turn();
  uint32_t id;
  CGRect area;
  double scale;
  Node *window = number ? window_by_number(number) : NULL;
  if (number && !window) return 1;
  if (!display_at_index(display > 0 ? display - 1 : 0, &id, &area, &scale)) return 1;
  if (area_given) area = (CGRect){{area_given[0], area_given[1]}, {area_given[2], area_given[3]}};
  if (window) area = node_frame(window);
  if (window || area_given) scale = display_scale_at(area.origin);
  Picture picture = picture_of(area, scale, number);
  Text png = {0};
  png_encode(&picture, &png);
  free(picture.pixels);
  bool saved = save(path, &png);
  text_free(&png);
  return !saved;
}

/** The colour 0xrrggbb of a window in pictures; of the wallpaper for 0. */
API uint32_t fakemac_colour(uint32_t number) { return number ? window_colour(number) : WALLPAPER; }
