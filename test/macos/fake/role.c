/* Properties of all elements of a role, compiled in from roles.json. */
#include "record.h"
#include "scene.h"

__asm__(
    ".section .rodata\n"
    ".global fake_roles\n"
    ".hidden fake_roles\n"
    "fake_roles: .incbin \"roles.json\"\n"
    ".byte 0\n"
    ".previous\n");
extern const char fake_roles[];

static Json *roles;

void role_init(void) {
  Text error = {0};
  roles = json_parse(fake_roles, &error);
  if (!roles) fatal("scene", "roles.json: %s", error.chars);
}

const Json *role_defaults(const char *role) { return json_get(roles, role); }
