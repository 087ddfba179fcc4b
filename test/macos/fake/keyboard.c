#include "keyboard.h"
#include "record.h"
#include "scene.h"

#include <stdio.h>
#include <string.h>

__asm__(
    ".section .rodata\n"
    ".global fake_layouts\n"
    ".hidden fake_layouts\n"
    "fake_layouts: .incbin \"layouts.json\"\n"
    ".byte 0\n"
    ".previous\n");
extern const char fake_layouts[];

Json *layouts;

void keyboard_init(void) {
  Text error = {0};
  layouts = json_parse(fake_layouts, &error);
  if (!layouts) fatal("scene", "layouts.json: %s", error.chars);
}

Json *layout_named(const char *name) { return json_get(layouts, name); }

const char *layout_current(void) {
  const char *name = json_string(json_get(scene.json, "keyboard"), "layout");
  return name && layout_named(name) ? name : "us";
}

/* Keys that are the same on every layout. */
static const char *fixed_key(int key) {
  static const struct { int key; const char *text; } keys[] = {
      {36, "\r"}, {48, "\t"}, {51, "\b"}, {53, "\x1b"}, {76, "\x03"}, {115, "\x01"}, {116, "\x0b"}, {117, "\x7f"}, {119, "\x04"},
      {121, "\x0c"}, {123, "\x1c"}, {124, "\x1d"}, {125, "\x1f"}, {126, "\x1e"}, {65, "."}, {67, "*"}, {69, "+"}, {75, "/"},
      {78, "-"}, {81, "="}, {82, "0"}, {83, "1"}, {84, "2"}, {85, "3"}, {86, "4"}, {87, "5"}, {88, "6"}, {89, "7"}, {91, "8"}, {92, "9"},
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i].key == key) return keys[i].text;
  return "";
}

const char *layout_key(const Json *layout, int key, int modifiers, bool *dead) {
  char name[8];
  snprintf(name, sizeof name, "%d", key);
  *dead = false;
  Json *levels = json_get(json_get(layout, "keys"), name);
  Json *level = levels ? levels->first : NULL;
  for (int i = 0; level && i < modifiers; i++) level = level->next;
  if (!levels || !level) return fixed_key(key);
  *dead = !strncmp(level->string, "dead:", 5);
  return *dead ? level->string + 5 : level->string;
}

const char *compose(const char *accent, const char *letter) {
  static const struct { const char *accent, *letters, *composed; } table[] = {
      {"´", "aeiouyAEIOUY", "áéíóúýÁÉÍÓÚÝ"}, {"`", "aeiouAEIOU", "àèìòùÀÈÌÒÙ"}, {"^", "aeiouAEIOU", "âêîôûÂÊÎÔÛ"},
      {"¨", "aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"}, {"~", "anoANO", "ãñõÃÑÕ"},
  };
  static char result[4];
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const char *at = strcmp(table[i].accent, accent) || strlen(letter) != 1 ? NULL : strchr(table[i].letters, *letter);
    if (!at) continue;
    /* Every composed letter of the table has two bytes. */
    memcpy(result, table[i].composed + 2 * (at - table[i].letters), 2);
    return result;
  }
  return NULL;
}
