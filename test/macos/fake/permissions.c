/* Permissions besides accessibility (CoreGraphics). */
#include "record.h"
#include "trip.h"
#include "world.h"

static bool ask(const char *what) {
  world_turn();
  if (trusted(what)) return true;
  Text line = record_open("prompt");
  text_printf(&line, ",\"for\":\"%s\"", what);
  record_close(&line);
  return false;
}

static bool look(const char *what) {
  world_turn();
  return trusted(what);
}

API bool CGPreflightScreenCaptureAccess(void) {
  ENTER;
  return look("screen");
}

API bool CGRequestScreenCaptureAccess(void) {
  ENTER;
  return ask("screen");
}

API bool CGPreflightPostEventAccess(void) {
  ENTER;
  return look("post");
}

API bool CGRequestPostEventAccess(void) {
  ENTER;
  return ask("post");
}

API bool CGPreflightListenEventAccess(void) {
  ENTER;
  return look("listen");
}

API bool CGRequestListenEventAccess(void) {
  ENTER;
  return ask("listen");
}
