/* For the Python package alone: steps that make Python's objects themselves.
 *
 * A stepper is a callable of one argument. It returns None if nothing has moved: because of what it was given, or since
 * the environment cannot be stepped; the package then finds out why. The arrays must stay where they are as long as it
 * is called. The functions are to be called with Python's lock held. They return NULL without an exception if the
 * process has no CPython.
 */
#include "skyrail.h"

typedef struct {
	skyrail_handle handle;
	int64_t actions; /* how many there are */
	const double *reward;
	const int64_t *info; /* skyrail_flight_buffers.counts, and figures right behind: info_size bytes */
	int64_t info_size;
} skyrail_flight_arrays;

/* step(action) of a single sector returns (observe(), reward, terminated, truncated, info). Info is what new_info()
 * gives, with the converging aircraft as "n" and the bytes of `info` as attribute _raw. */
void *skyrail_flight_stepper(const skyrail_flight_arrays *arrays, void *observe, void *new_info);

typedef struct {
	skyrail_handle handle;
	const double *rewards; /* of all trains; NULL if not a number each */
	const void *info;      /* info_size bytes of state, malfunction, speed and action_required */
	int64_t info_size;
} skyrail_rail_step_arrays;

/* step(actions) of a railway of the trains `agents`, a tuple. It takes a dict with an action for each of them, and
 * returns five dicts by agent: observations, rewards, terminations, truncations, infos. The first is observe(), those
 * of rewards and endings are copies of no_rewards and no as long as there are none, and infos are new_infos(blank) with
 * the bytes of `info` as attribute _raw.
 *
 * If a train is done, or has rewards that are no number, it returns what skyrail_rail_step_live did, and the rest is up
 * to the caller. */
void *skyrail_rail_stepper(const skyrail_rail_step_arrays *arrays, void *agents, void *observe, void *no_rewards,
						   void *no, void *new_infos, void *blank);
