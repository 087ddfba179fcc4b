#include "accessibility.h"
#include "record.h"
#include "world.h"

void keyboard_init(void);
void carbon_init(void);
void displays_init(void);
void windows_init(void);
void events_init(void);
void image_init(void);
void objc_init(void);
void pasteboard_init(void);
void bundle_init(void);

__attribute__((constructor)) static void init(void) {
  object_init();
  string_init();
  number_init();
  collection_init();
  value_init();
  run_loop_init();
  role_init();
  accessibility_init();
  observer_init();
  keyboard_init();
  carbon_init();
  displays_init();
  windows_init();
  events_init();
  image_init();
  objc_init();
  pasteboard_init();
  bundle_init();
  record_init();
  world_start(NULL);
}
