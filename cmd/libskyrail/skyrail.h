/* Skyrail's simulators for other languages: the C ABI of libskyrail.
 *
 * Handles. An environment, or a batch of them stepped together, is a positive handle. Create and clone give one out,
 * destroy takes it back; a handle that was destroyed, or never given out, is refused. A single environment is a batch
 * of one.
 *
 * Memory. All arrays belong to the caller: contiguous, row-major, aligned as C aligns their elements. Bind tells a
 * handle where to write; from then on reset and step write there, and allocate nothing. The arrays must stay where
 * they are until the handle is bound anew or destroyed. NULL stands for an array that is not wanted.
 *
 * Errors. A function returns 0 or a positive number if all went well, and a negative code from skyrail_code if not.
 * skyrail_error() then says what was wrong, in the same thread, until the next error there. What was asked for has not
 * happened, unless the code is SKYRAIL_FAULT.
 *
 * Threads. Any thread may call any function. One call at a time works on a handle; another one waits. A batch is stepped
 * by as many threads as it was created with, and what comes out does not depend on their number.
 *
 * Processes. The library does not survive fork(): a child must not call what its parent has loaded. It can load another
 * copy of the file under another name.
 */
#ifndef SKYRAIL_H
#define SKYRAIL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change that a caller must know of. Compare it with skyrail_abi() before anything else. */
#define SKYRAIL_ABI 1

enum skyrail_code {
	SKYRAIL_OK = 0,
	SKYRAIL_BAD_HANDLE = -1,   /* destroyed, or never given out */
	SKYRAIL_BAD_ARGUMENT = -2, /* an argument, or what a file holds */
	SKYRAIL_BAD_ACTION = -3,   /* outside the action space */
	SKYRAIL_NOT_NOW = -4,      /* not in this state, such as a step before the first reset */
	SKYRAIL_TOO_SMALL = -5,    /* a buffer; the error says what it takes */
	SKYRAIL_FAULT = -6,        /* a fault of the library: please report it; destroy the handle */
	SKYRAIL_NO_MEMORY = -7     /* there is no room for so many environments; the error says what they take */
};

typedef int64_t skyrail_handle;
typedef const char *skyrail_text;

/* The ABI of this library: SKYRAIL_ABI of the header it was made with. */
int32_t skyrail_abi(void);

/* What went wrong last in this thread: UTF-8, never NULL. */
skyrail_text skyrail_error(void);

/* How many handles are given out. */
int64_t skyrail_handles(void);

/* ---------------------------------------------------------------- flight: the air sector
 *
 * The reference's environment: docs/python-flight.md has spaces, rewards and seeding. E environments of N aircraft;
 * an action is 0 to 7N, an observation has 20N + 3 values.
 */

typedef struct {
	int64_t n_flights; /* N, 1 to 64 */
	int64_t n_lo, n_hi; /* n_range */
	int64_t max_steps, hold_steps, max_clearances;
	double w_safe, w_clearance, collision_rate;
} skyrail_flight_config;

/* What follows the end of an episode. */
enum skyrail_autoreset {
	SKYRAIL_NEXT_STEP = 0, /* the next step resets: its action is not looked at, its reward is 0 */
	SKYRAIL_SAME_STEP = 1, /* the step that ends the episode resets as well; final_* keep what was */
	SKYRAIL_DISABLED = 2   /* nothing; stepping on keeps flying */
};

/* Columns of counts. */
enum skyrail_flight_count {
	SKYRAIL_N, SKYRAIL_M, SKYRAIL_CONGESTION_EVENTS, SKYRAIL_CONGESTION_TOTAL, SKYRAIL_CLEARANCES, SKYRAIL_INVALIDS,
	SKYRAIL_AIRCRAFT_INVOLVED, SKYRAIL_COLLIDED, SKYRAIL_STEP,
	SKYRAIL_COUNTS
};

/* Columns of aircraft: metres, metres per second, degrees, altitude units, seconds from entry. */
enum skyrail_flight_aircraft {
	SKYRAIL_X, SKYRAIL_Y, SKYRAIL_LEVEL, SKYRAIL_SPEED, SKYRAIL_HEADING,
	SKYRAIL_DIRECTION_X, SKYRAIL_DIRECTION_Y, /* unit vector of the heading */
	SKYRAIL_ENTRY_LEVEL, SKYRAIL_ENTRY_SPEED,
	SKYRAIL_DISTANCE, SKYRAIL_FLOWN, /* from entry to exit, and of that behind it */
	SKYRAIL_TARGET_TIME, SKYRAIL_EXIT_TIME, /* the exit time is NaN until it has left */
	SKYRAIL_SEVERITY, SKYRAIL_CONFLICT_TIME, /* of its worst predicted conflict: 0 and infinity if there is none */
	SKYRAIL_AIRCRAFT
};

/* Columns of aircraft_counts. */
enum skyrail_flight_aircraft_count {
	SKYRAIL_HOLD_LEFT, SKYRAIL_PULSE_LEFT, SKYRAIL_PULSE_SIGN, SKYRAIL_PER_AIRCRAFT_CLEARANCES,
	SKYRAIL_AIRCRAFT_COUNTS
};

typedef struct {
	float *observations;       /* E x (20N + 3) */
	uint8_t *masks;            /* E x (1 + 7N), 0 or 1 */
	double *rewards;           /* E */
	uint8_t *terminated;       /* E, 0 or 1 */
	uint8_t *truncated;        /* E, 0 or 1 */
	int64_t *actions;          /* E: the last action; idling, 0, after a reset */
	int64_t *issued;           /* E: whether it was a clearance that was given, 0 or 1 */
	int64_t *counts;           /* E x SKYRAIL_COUNTS */
	double *figures;           /* E x (1 + 2N): exit_miss, dt_exit of each aircraft, d_alt_exit of each aircraft */
	double *aircraft;          /* E x N x SKYRAIL_AIRCRAFT */
	int64_t *aircraft_counts;  /* E x N x SKYRAIL_AIRCRAFT_COUNTS */
	float *final_observations; /* with SKYRAIL_SAME_STEP, rows of the episodes that have just ended; others stay */
	int64_t *final_counts;
	double *final_figures;
} skyrail_flight_buffers;

/* Makes a batch of n_envs environments, stepped by so many threads; 0: as many as there are processors. */
skyrail_handle skyrail_flight_create(skyrail_flight_config *config, int64_t n_envs, int64_t threads, int32_t autoreset);
int32_t skyrail_flight_destroy(skyrail_handle h);
/* A copy with its own future, not bound to any arrays. */
skyrail_handle skyrail_flight_clone(skyrail_handle h);

int32_t skyrail_flight_bind(skyrail_handle h, skyrail_flight_buffers *buffers);

/* Begins an episode where chosen is 1, everywhere if it is NULL. Environment i starts the scenario of seeds[i]; where
 * seeded is 0, and everywhere if seeds is NULL, it goes on along its own stream. seeded may be NULL: all are. */
int32_t skyrail_flight_reset(skyrail_handle h, uint64_t *seeds, uint8_t *seeded, uint8_t *chosen);

/* Steps all environments, each by its action. */
int32_t skyrail_flight_step(skyrail_handle h, int64_t *actions);

/* The same, and writes these arrays too, laid out as the buffers of these names; any may be NULL. For arrays that are
 * handed on: to bind others for each step takes longer, and so does a copy. */
int32_t skyrail_flight_step_into(skyrail_handle h, int64_t *actions, float *observations, int64_t *counts,
								 double *figures);

/* Steps the first environment; returns 1 for terminated plus 2 for truncated. */
int32_t skyrail_flight_step_one(skyrail_handle h, int32_t action);

/* Writes all bound arrays anew but those of the last step: rewards, terminated, truncated, actions, issued. */
int32_t skyrail_flight_observe(skyrail_handle h);

/* Writes the aircraft of all environments as of now into these arrays, laid out as those of the buffers. */
int32_t skyrail_flight_state(skyrail_handle h, double *aircraft, int64_t *aircraft_counts);

/* Sets n_range, from the next reset on. */
int32_t skyrail_flight_set_n_range(skyrail_handle h, int64_t lo, int64_t hi);

/* Writes everything that makes environment i what it is, and returns how many bytes that takes; or returns
 * SKYRAIL_TOO_SMALL. The bytes are for skyrail_flight_load of the same version. */
int64_t skyrail_flight_save(skyrail_handle h, int64_t i, uint8_t *bytes, int64_t capacity);
int32_t skyrail_flight_load(skyrail_handle h, int64_t i, uint8_t *bytes, int64_t length);

/* Makes environment i of h equal to environment j of from. */
int32_t skyrail_flight_copy(skyrail_handle h, int64_t i, skyrail_handle from, int64_t j);

/* Sets and tells the state of the random stream of environment i, NumPy's PCG64: state and increment with the low word
 * first, has_uint32, uinteger. */
int32_t skyrail_flight_stream(skyrail_handle h, int64_t i, uint64_t *words);
int32_t skyrail_flight_set_stream(skyrail_handle h, int64_t i, uint64_t *words);

/* Predicted conflicts of environment i, in the order of pairs: rows of i, j, t_enter, t_cpa, duration, d_cpa, d_alt,
 * severity, centre x, centre y. Returns how many there are, also if there is no room for all. */
#define SKYRAIL_CONFLICT 10
int64_t skyrail_flight_conflicts(skyrail_handle h, int64_t i, double *rows, int64_t room);

/* Agents, one for each of n environments: noop, random, rule-based, planner, oracle, or the path of a policy.zip. nodes
 * is how many candidate plans planner and oracle look at for an episode; 0: as many as by default. */
skyrail_handle skyrail_crew_create(skyrail_flight_config *config, int64_t n, int64_t threads, skyrail_text name, int64_t nodes);
int32_t skyrail_crew_destroy(skyrail_handle h);

/* Answers observations, n x (20N + 3), with n actions. An observation of step 0 begins an episode. */
int32_t skyrail_crew_act(skyrail_handle h, float *observations, int64_t *actions);

/* Answers for the environments of a handle as they are now, which oracle needs. */
int32_t skyrail_crew_act_in(skyrail_handle h, skyrail_handle flight, int64_t *actions);

/* ---------------------------------------------------------------- rail: the railway */
#include "skyrail_rail.h"

#ifdef __cplusplus
}
#endif

#endif
