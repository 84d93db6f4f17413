/* The railway of libskyrail; skyrail.h includes it.
 *
 * E environments of at most N trains each. An action is 0 DO_NOTHING, 1 MOVE_LEFT, 2 MOVE_FORWARD, 3 MOVE_RIGHT or
 * 4 STOP_MOVING. Environments may differ in everything; what is beyond the trains of one is padding. docs/python-rail.md
 * has spaces, rewards, masks and seeding.
 */
#ifndef SKYRAIL_RAIL_H
#define SKYRAIL_RAIL_H

typedef struct {
	skyrail_text rewards; /* default, ecml2026, base-default, base-ecml2026, multi-objective or punctuality */
	int64_t n_envs;       /* E: copies of what is made; not looked at by skyrail_rail_join */
	int64_t threads;      /* that step; 0: as many as there are processors */
	int32_t autoreset;    /* skyrail_autoreset; with SKYRAIL_DISABLED a step after the end is an error */
	int32_t fresh;        /* 1: every episode begins as the first; 0: as the reference's reset has it */
	int32_t leave;        /* 1: trains that were done before a step are not observed any more, and punctuality is paid on arrival */
} skyrail_rail_config;

/* What tells of a moment. For padding all is 0, but -1 for state and position, and the mask has DO_NOTHING alone. */
typedef struct {
	int8_t *state;            /* E x N: 0 waiting, 1 ready to depart, 2 malfunction off map, 3 moving, 4 stopped, 5 malfunction, 6 done */
	int32_t *position;        /* E x N x 3: row, column, heading; -1 off the map */
	int32_t *malfunction;     /* E x N, steps left */
	double *speed;            /* E x N, cells a step */
	double *travelled;        /* E x N, part of its cell */
	int32_t *distance;        /* E x N, moves to the target from where it is or enters; -1 without a way */
	uint8_t *action_required; /* E x N */
	uint8_t *deadlocked;      /* E x N, it can never leave its cell again */
	uint8_t *masks;           /* E x N x 5, the actions that make a difference */
	int32_t *elapsed;         /* E, steps since the reset */
	double *tree;             /* E x N x nodes x 12, in pre-order, -infinity for a node that is missing */
	double *flat_tree;        /* E x N x (nodes x 12), flattened and normalised */
	double *global;           /* E x N x (rows x columns x 23): 16 transitions of all cells, then 5 of state, 2 of targets */
} skyrail_rail_arrays;

typedef struct {
	double *rewards;     /* E x N x reward_width, of the last step */
	uint8_t *terminated; /* E x N, 1: the train has arrived, or is padding */
	uint8_t *truncated;  /* E x N, 1: the episode ended before it had */
	uint8_t *all_done;   /* E, 1: the episode ended with the last step */
	skyrail_rail_arrays now;
	skyrail_rail_arrays final; /* with SKYRAIL_SAME_STEP, rows of the episodes that have just ended; others stay */
	double radius;       /* of flat_tree; 0: as far as the tree goes */
	int32_t tree_depth;  /* of both trees, whose nodes are (4^(tree_depth+1) - 1) / 3 */
} skyrail_rail_buffers;

typedef struct {
	int64_t n_envs, trains, reward_width; /* of the handle: E, N */
	int64_t own_trains;                   /* of one environment, as all below */
	int64_t rows, columns;
	int64_t max_episode_steps; /* 0: no limit */
	int64_t elapsed, all_done;
} skyrail_rail_facts;

/* Make n_envs environments: of an environment file (a pickle, MessagePack or scene of Flatland, plain or gzipped, or what
 * skyrail_rail_save wrote); of a JSON object with the parameters of flatland-rl's env_generator by their names; of a
 * scenario of a folder that `skyrail rail suite` made, levels from 0 and scenarios from 1. */
skyrail_handle skyrail_rail_create_file(skyrail_rail_config *config, uint8_t *bytes, int64_t length);
skyrail_handle skyrail_rail_create_generated(skyrail_rail_config *config, skyrail_text parameters);
skyrail_handle skyrail_rail_create_suite(skyrail_rail_config *config, skyrail_text dir, int64_t level, int64_t scenario);
/* A batch of copies of all environments of so many handles, in their order. */
skyrail_handle skyrail_rail_join(skyrail_rail_config *config, skyrail_handle *handles, int64_t count);
int32_t skyrail_rail_destroy(skyrail_handle h);
/* A copy with its own future, not bound to any arrays. */
skyrail_handle skyrail_rail_clone(skyrail_handle h);

int32_t skyrail_rail_facts_of(skyrail_handle h, int64_t i, skyrail_rail_facts *facts);
/* The tracks of environment i: rows x columns cells of 16 bits. */
int32_t skyrail_rail_transitions(skyrail_handle h, int64_t i, uint16_t *cells);
/* Its trains: start row, column, heading, target row, column, earliest departure, latest arrival; and maximum speeds. */
#define SKYRAIL_RAIL_TIMETABLE 7
int32_t skyrail_rail_timetable(skyrail_handle h, int64_t i, int64_t *rows, double *max_speeds);
/* Where they have to stand on their way, in order: train, which of its stops, row, column, heading (-1: any), earliest
 * departure, latest arrival (-1: none). Rows of one stop are alternatives. Returns how many rows there are, and writes
 * as many as there is room for. */
#define SKYRAIL_RAIL_STOP 7
int64_t skyrail_rail_stops(skyrail_handle h, int64_t i, int64_t *rows, int64_t room);

int32_t skyrail_rail_bind(skyrail_handle h, skyrail_rail_buffers *buffers);

/* As skyrail_flight_reset. After an error the environment it is about keeps its episode; if no railway could be made, a
 * reset without a seed tries the next one along its stream. */
int32_t skyrail_rail_reset(skyrail_handle h, uint64_t *seeds, uint8_t *seeded, uint8_t *chosen);

/* Step all environments by E x N actions. Those of padding and of trains that are done are not looked at. An environment
 * that a step should reset, but of whose stream no railway comes, stays at its end; the error is that of the next step. */
int32_t skyrail_rail_step(skyrail_handle h, int8_t *actions);
int32_t skyrail_rail_step_words(skyrail_handle h, int64_t *actions);

/* Steps the first environment by count actions, for each of its trains that is not done. Returns 1 if a reward is not
 * 0, plus 2 if a train is done that was not, plus 4 if the episode is over. */
int32_t skyrail_rail_step_live(skyrail_handle h, uint8_t *actions, int32_t count);

/* Writes all bound arrays anew but rewards and endings. */
int32_t skyrail_rail_observe(skyrail_handle h);

/* Writes arrays once, without binding them. Of observations only those that are bound too. */
int32_t skyrail_rail_look(skyrail_handle h, skyrail_rail_arrays *arrays);

/* As skyrail_flight_save, _load and _copy; but if bytes is NULL, save only says how many there are. */
int64_t skyrail_rail_save(skyrail_handle h, int64_t i, uint8_t *bytes, int64_t capacity);
int32_t skyrail_rail_load(skyrail_handle h, int64_t i, uint8_t *bytes, int64_t length);
int32_t skyrail_rail_copy(skyrail_handle h, int64_t i, skyrail_handle from, int64_t j);

/* A policy by its name, such as deadlock-avoidance; the error lists all. The seed is that of random. */
skyrail_handle skyrail_rail_policy_create(skyrail_text name, uint32_t seed);
int32_t skyrail_rail_policy_destroy(skyrail_handle policy);
/* Answers for all environments of h with E x N actions. It should be asked in every step. */
int32_t skyrail_rail_policy_act(skyrail_handle policy, skyrail_handle h, int8_t *actions);

#endif
