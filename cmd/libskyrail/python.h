/* For the Python package alone: a step that makes Python's objects itself. */
#include "skyrail.h"

/* A sector, and the arrays that it is bound to. They must stay where they are as long as the stepper is called. */
typedef struct {
	skyrail_handle handle;
	int64_t actions; /* how many there are */
	const double *reward;
	const int64_t *info; /* skyrail_flight_buffers.counts, and figures right behind: info_size bytes */
	int64_t info_size;
} skyrail_flight_arrays;

/* A callable step(action) of a single sector. It returns (observe(), reward, terminated, truncated, info), or None if
 * nothing has been flown: the action is no integer of the action space, or the sector does not fly. Info is what
 * new_info() gives, with the converging aircraft as "n" and the bytes of `info` as attribute _raw.
 *
 * To be called with Python's lock held. NULL without an exception if the process has no CPython.
 */
void *skyrail_flight_stepper(const skyrail_flight_arrays *arrays, void *observe, void *new_info);
