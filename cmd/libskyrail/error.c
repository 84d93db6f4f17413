/* The error of each thread. It is not a _Thread_local array, because a library that is loaded late gets little room
 * for those. */
#include "error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void make_key(void) { has_key = pthread_key_create(&key, free) == 0; }

void skyrail_set_error(const char *text, size_t length) {
	pthread_once(&once, make_key);
	if (!has_key) {
		return;
	}
	char *copy = malloc(length + 1);
	if (copy != NULL) {
		memcpy(copy, text, length);
		copy[length] = 0;
	}
	free(pthread_getspecific(key));
	pthread_setspecific(key, copy);
}

const char *skyrail_get_error(void) {
	pthread_once(&once, make_key);
	const char *text = has_key ? pthread_getspecific(key) : NULL;
	return text != NULL ? text : "no error";
}
