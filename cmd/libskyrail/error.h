#include <stddef.h>

void skyrail_set_error(const char *text, size_t length);
const char *skyrail_get_error(void);
