/* Checks the rules of CoreFoundation from C. Every block names the violations that must be reported. */
#include "apple.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Ref CFStringCreateWithCString(Ref allocator, const char *chars, uint32_t encoding);
Ref CFStringCreateWithCharacters(Ref allocator, const UniChar *units, CFIndex length);
CFIndex CFStringGetLength(Ref string);
CFIndex CFStringGetBytes(Ref, CFRange, uint32_t, uint8_t, Boolean, uint8_t *, CFIndex, CFIndex *);
Boolean CFStringGetCString(Ref string, char *buffer, CFIndex room, uint32_t encoding);
Ref CFArrayCreate(Ref allocator, const Ref *values, CFIndex count, const CFArrayCallBacks *callbacks);
Ref CFArrayGetValueAtIndex(Ref array, CFIndex index);
Ref CFDictionaryCreateMutable(Ref, CFIndex, const CFDictionaryKeyCallBacks *, const CFDictionaryValueCallBacks *);
void CFDictionarySetValue(Ref dictionary, Ref key, Ref value);
Ref CFDictionaryGetValue(Ref dictionary, Ref key);
CFIndex CFDictionaryGetCount(Ref dictionary);
Ref CFNumberCreate(Ref allocator, CFIndex type, const void *value);
Boolean CFNumberGetValue(Ref number, CFIndex type, void *value);
Ref CFRetain(Ref ref);
void CFRelease(Ref ref);
Boolean CFEqual(Ref a, Ref b);
CFHashCode CFHash(Ref ref);
Ref CFAutorelease(Ref ref);
void *objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void *token);
extern const CFArrayCallBacks kCFTypeArrayCallBacks;
extern const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
extern const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;
extern Ref kCFBooleanTrue;
CGRect CGDisplayBounds(uint32_t display);
CGSize CGDisplayScreenSize(uint32_t display);
uint32_t CGMainDisplayID(void);
Ref CGRectCreateDictionaryRepresentation(CGRect rect);
bool CGRectMakeWithDictionaryRepresentation(Ref dictionary, CGRect *rect);
Ref CGWindowListCreateImage(CGRect area, uint32_t options, uint32_t window, uint32_t image_options);
size_t CGImageGetWidth(Ref image);
Ref CGImageGetDataProvider(Ref image);
Ref CGDataProviderCopyData(Ref provider);
void CGImageRelease(Ref image);
Ref CFDataCreateMutable(Ref allocator, CFIndex capacity);
CFIndex CFDataGetLength(Ref bytes);
const uint8_t *CFDataGetBytePtr(Ref bytes);
Ref CGImageDestinationCreateWithData(Ref bytes, Ref type, size_t count, Ref options);
void CGImageDestinationAddImage(Ref destination, Ref image, Ref properties);
bool CGImageDestinationFinalize(Ref destination);
Ref CGEventCreateMouseEvent(Ref source, uint32_t type, CGPoint at, uint32_t button);
CGPoint CGEventGetLocation(Ref event);
Ref objc_getClass(const char *name);
Ref sel_registerName(const char *name);
void objc_msgSend(void);
double *objc_msgSend_stret(double *out, Ref self, Ref selector);
const char *fakemac_report(void);
void fakemac_reset(void);

static int failures;

static void expect(int holds, const char *what) {
  if (holds) return;
  failures++;
  printf("FAIL %s\n     %s\n", what, fakemac_report());
}

static int noticed(const char *kind) {
  char member[64];
  snprintf(member, sizeof member, "\"kind\":\"%s\"", kind);
  return strstr(fakemac_report(), member) != NULL;
}

static int clean(void) { return strstr(fakemac_report(), "\"violations\":[],") && strstr(fakemac_report(), "\"leaks\":[],"); }

static Ref text(const char *chars) { return CFStringCreateWithCString(NULL, chars, kCFStringEncodingUTF8); }

static void counts(void) {
  fakemac_reset();
  Ref string = text("a string that is too long for a tag");
  CFRetain(string);
  CFRelease(string);
  CFRelease(string);
  expect(clean(), "balanced retain and release leave nothing");

  CFStringGetLength(string);
  expect(noticed("use_after_free"), "a tombstone is recognized");

  fakemac_reset();
  CFRelease(string);
  expect(noticed("use_after_free"), "a second release of a freed object is noticed");

  fakemac_reset();
  string = text("kept for ever, which is a leak");
  expect(strstr(fakemac_report(), "\"creator\":\"CFStringCreateWithCString\"") != NULL, "a leak names its creator");
  fakemac_reset();
  expect(clean(), "an object that lived before the mark does not leak after it");
  CFRelease(string);
}

static void borrowed(void) {
  fakemac_reset();
  Ref item = text("a member of the array below");
  Ref array = CFArrayCreate(NULL, &item, 1, &kCFTypeArrayCallBacks);
  CFRelease(item);
  Ref again = CFArrayGetValueAtIndex(array, 0);
  expect(CFStringGetLength(again) > 0 && clean() == 0, "a member lives as long as its array");
  CFRelease(again);
  expect(noticed("over_release"), "releasing a borrowed member is noticed at once");
  fakemac_reset();
  CFRelease(array);
  CFStringGetLength(again);
  expect(noticed("use_after_free"), "a borrowed member is gone with its array");

  fakemac_reset();
  CFArrayGetValueAtIndex(array, 0);
  expect(noticed("use_after_free"), "a freed array is recognized");
}

static void wrong(void) {
  fakemac_reset();
  CFRelease(NULL);
  expect(noticed("null"), "CFRelease(NULL) crashes on a Mac");
  fakemac_reset();
  CFStringGetLength(kCFBooleanTrue);
  expect(noticed("wrong_type"), "a boolean is not a string");
  fakemac_reset();
  CFRetain((Ref)(uintptr_t)0x1234);
  expect(noticed("invalid_pointer"), "a number is not an object");
  fakemac_reset();
  Ref array = CFArrayCreate(NULL, NULL, 0, &kCFTypeArrayCallBacks);
  CFArrayGetValueAtIndex(array, 0);
  expect(noticed("range"), "an index outside the array");
  CFRelease(array);
}

static void tags(void) {
  fakemac_reset();
  Ref role = text("AXRole"), same = text("AXRole");
  int64_t seven = 7;
  Ref number = CFNumberCreate(NULL, kCFNumberSInt64Type, &seven);
  expect((uintptr_t)role >> 63 && role == same, "a short string is one tagged reference");
  expect((uintptr_t)number >> 63, "a small number is tagged");
  expect(CFStringGetLength((Ref)(uintptr_t)(double)(uintptr_t)role) == 0 && noticed("invalid_pointer"),
         "a reference that went through a double is not an object any more");
  fakemac_reset();
  CFRelease(role);
  CFRelease(same);
  CFRelease(number);
  CFStringGetLength(role);
  expect(noticed("use_after_free"), "a tagged reference has an owner like any other");
}

static void strings(void) {
  fakemac_reset();
  expect(text("\xff\xfe broken") == NULL, "ill-formed UTF-8 makes no string");
  Ref emoji = text("a\xf0\x9f\x99\x82z");
  char buffer[8];
  CFIndex used;
  expect(CFStringGetLength(emoji) == 4, "length counts UTF-16 units");
  expect(!CFStringGetCString(emoji, buffer, 6, kCFStringEncodingUTF8), "a buffer without room for the NUL is refused");
  expect(CFStringGetCString(emoji, buffer, 7, kCFStringEncodingUTF8) && !strcmp(buffer, "a\xf0\x9f\x99\x82z"), "the bytes come back");
  expect(CFStringGetBytes(emoji, (CFRange){0, 4}, kCFStringEncodingASCII, '?', 0, (uint8_t *)buffer, 8, &used) == 4 && used == 3 && !memcmp(buffer, "a?z", 3),
         "a character that the encoding lacks is replaced by the loss byte");
  expect(CFStringGetBytes(emoji, (CFRange){0, 4}, kCFStringEncodingASCII, 0, 0, (uint8_t *)buffer, 8, &used) == 1, "or ends the conversion");
  UniChar lone = 0xd83d;
  Ref half = CFStringCreateWithCharacters(NULL, &lone, 1);
  expect(!CFStringGetCString(half, buffer, 8, kCFStringEncodingUTF8), "half a pair is not UTF-8");
  CFRelease(half);
  CFRelease(emoji);
  expect(clean(), "strings leave nothing");
}

static void dictionaries(void) {
  fakemac_reset();
  Ref dictionary = CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
  for (int32_t i = 0; i < 5000; i++) {
    char name[40];
    snprintf(name, sizeof name, "key number %d of many", i);
    Ref key = text(name), value = CFNumberCreate(NULL, kCFNumberSInt32Type, &i);
    CFDictionarySetValue(dictionary, key, value);
    CFDictionarySetValue(dictionary, key, value);
    CFRelease(key);
    CFRelease(value);
  }
  Ref key = text("key number 4321 of many");
  int32_t found = 0;
  CFNumberGetValue(CFDictionaryGetValue(dictionary, key), kCFNumberSInt32Type, &found);
  expect(CFDictionaryGetCount(dictionary) == 5000 && found == 4321, "a dictionary finds by equality");
  CFRelease(key);
  CFRelease(dictionary);
  expect(clean(), "a dictionary releases its members");
}

static void numbers(void) {
  fakemac_reset();
  double pi = 3.5;
  int64_t big = 5000000000;
  int32_t narrow = 0;
  Ref real = CFNumberCreate(NULL, kCFNumberDoubleType, &pi), wide = CFNumberCreate(NULL, kCFNumberSInt64Type, &big);
  expect(!CFNumberGetValue(real, kCFNumberSInt32Type, &narrow) && narrow == 3, "a lossy read reports that and still writes");
  expect(!CFNumberGetValue(wide, kCFNumberSInt32Type, &narrow), "a number that does not fit is refused");
  double five = 5e9;
  Ref same = CFNumberCreate(NULL, kCFNumberDoubleType, &five);
  expect(CFEqual(wide, same) && CFHash(wide) == CFHash(same), "equal numbers of different types have equal hashes");
  CFRelease(real);
  CFRelease(wide);
  CFRelease(same);
  expect(clean(), "numbers leave nothing");
}

static void pools(void) {
  fakemac_reset();
  void *pool = objc_autoreleasePoolPush();
  Ref string = CFAutorelease(text("until the pool is popped"));
  expect(CFStringGetLength(string) == 24, "an autoreleased object lives until its pool ends");
  expect(strstr(fakemac_report(), "\"pools\":1,") != NULL, "an open pool is reported");
  objc_autoreleasePoolPop(pool);
  expect(clean() && strstr(fakemac_report(), "\"pools\":0,"), "a popped pool releases what it holds");
  CFStringGetLength(string);
  expect(noticed("use_after_free"), "and no more");
  fakemac_reset();
  objc_autoreleasePoolPop(pool);
  expect(noticed("pool"), "a pool can be popped once");
}

/* Structures as arguments and results, as both machines pass them. */
static void structures(void) {
  fakemac_reset();
  CGRect screen = CGDisplayBounds(CGMainDisplayID());
  expect(screen.size.width == 1440 && screen.size.height == 900, "a rectangle comes back whole");
  expect(CGDisplayScreenSize(CGMainDisplayID()).height > 0, "and a size");
  CGRect rect = {{1, 2}, {3, 4}}, again = {{0, 0}, {0, 0}};
  Ref dictionary = CGRectCreateDictionaryRepresentation(rect);
  expect(CGRectMakeWithDictionaryRepresentation(dictionary, &again) && !memcmp(&rect, &again, sizeof rect), "a rectangle as a dictionary");
  CFRelease(dictionary);
  Ref event = CGEventCreateMouseEvent(NULL, 5, (CGPoint){12.5, 34.5}, 0);
  expect(CGEventGetLocation(event).x == 12.5 && CGEventGetLocation(event).y == 34.5, "a point goes in and out");
  CFRelease(event);
  Ref (*get)(Ref, Ref) = (Ref(*)(Ref, Ref))objc_msgSend;
  void *pool = objc_autoreleasePoolPush();
  Ref main_screen = get(objc_getClass("NSScreen"), sel_registerName("mainScreen"));
#if defined(__x86_64__)
  CGRect frame;
  objc_msgSend_stret((double *)&frame, main_screen, sel_registerName("frame"));
#else
  CGRect (*get_rect)(Ref, Ref) = (CGRect(*)(Ref, Ref))objc_msgSend;
  CGRect frame = get_rect(main_screen, sel_registerName("frame"));
#endif
  expect(frame.size.width == 1440 && frame.size.height == 900, "a message that returns a rectangle");
  double (*get_double)(Ref, Ref) = (double (*)(Ref, Ref))objc_msgSend;
  expect(get_double(main_screen, sel_registerName("backingScaleFactor")) == 2, "a message that returns a number");
  CGPoint (*get_point)(Ref, Ref) = (CGPoint(*)(Ref, Ref))objc_msgSend;
  expect(get_point(objc_getClass("NSEvent"), sel_registerName("mouseLocation")).y == 900, "a message that returns a point");
  objc_autoreleasePoolPop(pool);
  expect(clean(), "structures leave nothing");
}

static void pictures(void) {
  fakemac_reset();
  Ref image = CGWindowListCreateImage((CGRect){{0, 0}, {40, 30}}, 1, 0, 0), type = text("public.png");
  Ref pixels = CGDataProviderCopyData(CGImageGetDataProvider(image)), file = CFDataCreateMutable(NULL, 0);
  expect(CGImageGetWidth(image) == 80 && CFDataGetLength(pixels) == 80 * 60 * 4, "a picture has two pixels a point");
  Ref destination = CGImageDestinationCreateWithData(file, type, 1, NULL);
  CGImageDestinationAddImage(destination, image, NULL);
  expect(CGImageDestinationFinalize(destination) && !memcmp(CFDataGetBytePtr(file), "\x89PNG", 4), "it is written as PNG");
  CGImageRelease(image);
  CGImageRelease(NULL);
  CFRelease(type);
  CFRelease(pixels);
  CFRelease(file);
  CFRelease(destination);
  expect(clean(), "pictures leave nothing");
}

int main(void) {
  counts();
  borrowed();
  wrong();
  tags();
  strings();
  dictionaries();
  numbers();
  pools();
  structures();
  pictures();
  printf(failures ? "%d failed\n" : "ok\n", failures);
  return failures != 0;
}
