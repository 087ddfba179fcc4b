/* Types and constants of Apple's headers that callers of this library use. */
#ifndef APPLE_H
#define APPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define API __attribute__((visibility("default")))

typedef const void *Ref; /* CFTypeRef, id, SEL: opaque to callers */
typedef uint8_t Boolean;
typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFHashCode;
typedef uint16_t UniChar;
typedef int32_t AXError;
typedef int32_t OSStatus;
typedef int16_t OSErr;
typedef int32_t CGError;

typedef struct { CFIndex location, length; } CFRange;
typedef struct { double x, y; } CGPoint;
typedef struct { double width, height; } CGSize;
typedef struct { CGPoint origin; CGSize size; } CGRect;

typedef struct {
  CFIndex version;
  const void *(*retain)(Ref allocator, const void *value);
  void (*release)(Ref allocator, const void *value);
  Ref (*copyDescription)(const void *value);
  Boolean (*equal)(const void *a, const void *b);
} CFArrayCallBacks;

typedef struct {
  CFIndex version;
  const void *(*retain)(Ref allocator, const void *value);
  void (*release)(Ref allocator, const void *value);
  Ref (*copyDescription)(const void *value);
  Boolean (*equal)(const void *a, const void *b);
  CFHashCode (*hash)(const void *value);
} CFDictionaryKeyCallBacks;

typedef CFArrayCallBacks CFDictionaryValueCallBacks;

enum {
  kCFStringEncodingMacRoman = 0,
  kCFStringEncodingASCII = 0x0600,
  kCFStringEncodingISOLatin1 = 0x0201,
  kCFStringEncodingUTF8 = 0x08000100,
  kCFStringEncodingUTF16 = 0x0100,
  kCFStringEncodingUTF16BE = 0x10000100,
  kCFStringEncodingUTF16LE = 0x14000100,
  kCFStringEncodingUTF32 = 0x0c000100,
  kCFStringEncodingUTF32LE = 0x1c000100,
};

enum {
  kCFNumberSInt8Type = 1, kCFNumberSInt16Type, kCFNumberSInt32Type, kCFNumberSInt64Type,
  kCFNumberFloat32Type, kCFNumberFloat64Type, kCFNumberCharType, kCFNumberShortType,
  kCFNumberIntType, kCFNumberLongType, kCFNumberLongLongType, kCFNumberFloatType,
  kCFNumberDoubleType, kCFNumberCFIndexType, kCFNumberNSIntegerType, kCFNumberCGFloatType,
};

enum {
  kCFRunLoopRunFinished = 1, kCFRunLoopRunStopped = 2, kCFRunLoopRunTimedOut = 3, kCFRunLoopRunHandledSource = 4,
};

enum {
  kAXErrorSuccess = 0,
  kAXErrorFailure = -25200,
  kAXErrorIllegalArgument = -25201,
  kAXErrorInvalidUIElement = -25202,
  kAXErrorInvalidUIElementObserver = -25203,
  kAXErrorCannotComplete = -25204,
  kAXErrorAttributeUnsupported = -25205,
  kAXErrorActionUnsupported = -25206,
  kAXErrorNotificationUnsupported = -25207,
  kAXErrorNotImplemented = -25208,
  kAXErrorNotificationAlreadyRegistered = -25209,
  kAXErrorNotificationNotRegistered = -25210,
  kAXErrorAPIDisabled = -25211,
  kAXErrorNoValue = -25212,
  kAXErrorParameterizedAttributeUnsupported = -25213,
};

enum {
  kAXValueIllegalType = 0, kAXValueCGPointType, kAXValueCGSizeType, kAXValueCGRectType,
  kAXValueCFRangeType, kAXValueAXErrorType,
};

#endif
