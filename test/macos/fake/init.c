#include "foundation.h"
#include "record.h"

__attribute__((constructor)) static void init(void) {
  object_init();
  string_init();
  number_init();
  collection_init();
  value_init();
  run_loop_init();
  record_init();
}
