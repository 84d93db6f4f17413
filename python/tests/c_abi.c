/* libskyrail as a C program uses it: the header alone, arrays of its own, every error code a caller can cause. It is
 * C99 and C++ at the same time. Prints what is not as it should be, then how many things it looked at; status 0 if all
 * of them were right. */
#include "skyrail.h"

#include <stdio.h>
#include <string.h>

enum { N = 5, OBSERVATION = 20 * N + 3, ACTIONS = 1 + 7 * N, BATCH = 3, TRAINS = 2, ROOM = 1 << 16 };

/* A published seed and how its episode goes if nobody does anything, as in flight/testdata/board.json.gz. */
static const uint64_t SEED = 1829385696;
enum { STEPS = 15, CONGESTION = 23 };

static int looked, wrong;

static void expect(int line, const char *what, int64_t got, int64_t want) {
	looked++;
	if (got != want) {
		wrong++;
		printf("line %d: %s is %lld, want %lld: %s\n", line, what, (long long)got, (long long)want, skyrail_error());
	}
}

#define EXPECT(got, want) expect(__LINE__, #got, (int64_t)(got), (int64_t)(want))

/* A call that has to be refused, with this code and with these words among what it says. */
#define REFUSED(call, code, words) \
	(EXPECT(call, code), looked++, strstr(skyrail_error(), words) != NULL ? 0 : \
		(wrong++, printf("line %d: %s says \"%s\", want \"%s\" in it\n", __LINE__, #call, skyrail_error(), words)))

/* Where a batch writes to. */
typedef struct {
	float observations[BATCH * OBSERVATION];
	uint8_t masks[BATCH * ACTIONS];
	double rewards[BATCH];
	uint8_t terminated[BATCH], truncated[BATCH];
	int64_t counts[BATCH * SKYRAIL_COUNTS];
} arrays;

static arrays one, other, three;
static int8_t states[BATCH * TRAINS], moves[BATCH * TRAINS], same[BATCH * TRAINS];
static double earned[BATCH * TRAINS];
static uint8_t over[BATCH];
static uint8_t bytes[ROOM];

static void bind(skyrail_handle h, arrays *a) {
	skyrail_flight_buffers buffers;
	memset(&buffers, 0, sizeof buffers);
	buffers.observations = a->observations;
	buffers.masks = a->masks;
	buffers.rewards = a->rewards;
	buffers.terminated = a->terminated;
	buffers.truncated = a->truncated;
	buffers.counts = a->counts;
	EXPECT(skyrail_flight_bind(h, &buffers), SKYRAIL_OK);
}

static skyrail_flight_config standard(void) {
	skyrail_flight_config config;
	memset(&config, 0, sizeof config);
	config.n_flights = N;
	config.n_lo = 2;
	config.n_hi = 4;
	config.max_steps = 50;
	config.hold_steps = 5;
	config.max_clearances = 40;
	config.w_safe = 3;
	config.w_clearance = 0.15;
	config.collision_rate = 3;
	return config;
}

static void creating(void) {
	skyrail_flight_config config = standard();
	EXPECT(strcmp(skyrail_error(), "no error"), 0);
	REFUSED(skyrail_flight_create(NULL, 1, 1, SKYRAIL_DISABLED), SKYRAIL_BAD_ARGUMENT, "no configuration");
	REFUSED(skyrail_flight_create(&config, 0, 1, SKYRAIL_DISABLED), SKYRAIL_BAD_ARGUMENT, "environments is 0");
	REFUSED(skyrail_flight_create(&config, 1, -1, SKYRAIL_DISABLED), SKYRAIL_BAD_ARGUMENT, "threads are -1");
	REFUSED(skyrail_flight_create(&config, 1, 1, 3), SKYRAIL_BAD_ARGUMENT, "autoreset mode is 3");
	config.n_flights = 65;
	REFUSED(skyrail_flight_create(&config, 1, 1, SKYRAIL_DISABLED), SKYRAIL_BAD_ARGUMENT, "65");
	EXPECT(skyrail_handles(), 0);
}

/* A handle that was never given out, or is no more, is good for nothing. */
static void useless(skyrail_handle h) {
	skyrail_flight_buffers buffers;
	uint64_t words[6] = {0, 0, 0, 0, 0, 0};
	int64_t action = 0;
	memset(&buffers, 0, sizeof buffers);
	REFUSED(skyrail_flight_bind(h, &buffers), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_reset(h, NULL, NULL, NULL), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_step(h, &action), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_step_one(h, 0), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_observe(h), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_set_n_range(h, 2, 4), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_save(h, 0, bytes, ROOM), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_load(h, 0, bytes, 1), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_copy(h, 0, h, 0), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_stream(h, 0, words), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_set_stream(h, 0, words), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_conflicts(h, 0, NULL, 0), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_clone(h), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_flight_destroy(h), SKYRAIL_BAD_HANDLE, "no such handle");
}

static void an_episode(skyrail_handle h) {
	int64_t actions[1] = {0};
	uint64_t seed = SEED;
	int status = 0, steps = 0;

	bind(h, &one);
	REFUSED(skyrail_flight_step(h, actions), SKYRAIL_NOT_NOW, "reset first");
	REFUSED(skyrail_flight_step_one(h, 0), SKYRAIL_NOT_NOW, "reset first");
	EXPECT(skyrail_flight_reset(h, &seed, NULL, NULL), SKYRAIL_OK);
	EXPECT(one.masks[0], 1);
	EXPECT(one.counts[SKYRAIL_STEP], 0);
	EXPECT(one.observations[OBSERVATION - ACTIONS], 1); /* its end is the mask */

	/* A refused step has not happened. */
	REFUSED(skyrail_flight_step_one(h, ACTIONS), SKYRAIL_BAD_ACTION, "36");
	REFUSED(skyrail_flight_step_one(h, -1), SKYRAIL_BAD_ACTION, "-1");
	actions[0] = INT64_MAX;
	REFUSED(skyrail_flight_step(h, actions), SKYRAIL_BAD_ACTION, "9223372036854775807");
	REFUSED(skyrail_flight_step(h, NULL), SKYRAIL_BAD_ARGUMENT, "no actions");
	EXPECT(one.counts[SKYRAIL_STEP], 0);

	while (status == 0 && steps < 50) {
		status = skyrail_flight_step_one(h, 0);
		steps++;
	}
	EXPECT(steps, STEPS);
	EXPECT(status, 1);
	EXPECT(one.terminated[0], 1);
	EXPECT(one.truncated[0], 0);
	EXPECT(one.counts[SKYRAIL_STEP], STEPS);
	EXPECT(one.counts[SKYRAIL_CONGESTION_TOTAL], CONGESTION);
	EXPECT(one.counts[SKYRAIL_COLLIDED], 1);
	EXPECT(one.rewards[0] < 0, 1);
	EXPECT(skyrail_flight_conflicts(h, 0, NULL, 0) >= 0, 1);
	REFUSED(skyrail_flight_conflicts(h, 1, NULL, 0), SKYRAIL_BAD_ARGUMENT, "1");
}

/* Saved, loaded, cloned and copied, an environment has the same future. */
static void the_same_future(skyrail_handle h) {
	skyrail_flight_config config = standard();
	const size_t row = OBSERVATION * sizeof one.observations[0];
	uint64_t seed = SEED;
	int64_t size;
	skyrail_handle fresh = skyrail_flight_create(&config, 1, 1, SKYRAIL_DISABLED), clone;

	EXPECT(skyrail_flight_reset(h, &seed, NULL, NULL), SKYRAIL_OK);
	EXPECT(skyrail_flight_step_one(h, 1), 0);
	REFUSED(skyrail_flight_save(h, 0, bytes, 3), SKYRAIL_TOO_SMALL, "room for 3 bytes");
	REFUSED(skyrail_flight_save(h, 0, NULL, 0), SKYRAIL_TOO_SMALL, "room for 0 bytes");
	REFUSED(skyrail_flight_save(h, 1, bytes, ROOM), SKYRAIL_BAD_ARGUMENT, "1");
	size = skyrail_flight_save(h, 0, bytes, ROOM);
	EXPECT(size > 0, 1);
	REFUSED(skyrail_flight_load(fresh, 0, bytes, size - 1), SKYRAIL_BAD_ARGUMENT, "");
	REFUSED(skyrail_flight_load(fresh, 0, bytes, -1), SKYRAIL_BAD_ARGUMENT, "length is -1");
	REFUSED(skyrail_flight_step_one(fresh, 0), SKYRAIL_NOT_NOW, "reset first");
	bind(fresh, &other);
	EXPECT(skyrail_flight_load(fresh, 0, bytes, size), SKYRAIL_OK);
	clone = skyrail_flight_clone(h);
	EXPECT(clone > 0 && clone != h && clone != fresh, 1);
	EXPECT(skyrail_handles(), 3);

	while (skyrail_flight_step_one(h, 0) == 0) {
		EXPECT(skyrail_flight_step_one(fresh, 0), 0);
		EXPECT(skyrail_flight_step_one(clone, 0), 0);
		EXPECT(memcmp(one.observations, other.observations, row), 0);
		EXPECT(memcmp(one.counts, other.counts, SKYRAIL_COUNTS * sizeof one.counts[0]), 0);
		EXPECT(one.rewards[0] == other.rewards[0], 1);
	}
	EXPECT(skyrail_flight_step_one(fresh, 0) > 0, 1);
	EXPECT(skyrail_flight_step_one(clone, 0) > 0, 1);
	EXPECT(memcmp(one.observations, other.observations, row), 0);

	/* A clone is bound to nothing until it is. */
	bind(clone, &other);
	memset(&other, 0, sizeof other);
	EXPECT(skyrail_flight_copy(clone, 0, h, 0), SKYRAIL_OK);
	EXPECT(skyrail_flight_observe(clone), SKYRAIL_OK);
	EXPECT(memcmp(one.observations, other.observations, row), 0);

	EXPECT(skyrail_flight_destroy(clone), SKYRAIL_OK);
	EXPECT(skyrail_flight_destroy(fresh), SKYRAIL_OK);
	REFUSED(skyrail_flight_copy(h, 0, fresh, 0), SKYRAIL_BAD_HANDLE, "no such handle");
}

/* A batch on two threads flies what single environments fly, and steps none of them if an action is wrong. */
static void a_batch(skyrail_handle single) {
	skyrail_flight_config config = standard();
	uint64_t seeds[BATCH] = {SEED, SEED + 1, SEED + 2};
	int64_t actions[BATCH] = {0, 0, 0};
	uint8_t chosen[BATCH] = {0, 1, 0};
	skyrail_handle h = skyrail_flight_create(&config, BATCH, 2, SKYRAIL_DISABLED);
	const size_t row = OBSERVATION * sizeof one.observations[0];
	int i, steps;

	EXPECT(h > 0, 1);
	bind(h, &three);
	REFUSED(skyrail_flight_reset(h, seeds, NULL, chosen), SKYRAIL_NOT_NOW, "environment 0");
	EXPECT(skyrail_flight_reset(h, seeds, NULL, NULL), SKYRAIL_OK);
	actions[2] = ACTIONS;
	REFUSED(skyrail_flight_step(h, actions), SKYRAIL_BAD_ACTION, "36");
	actions[2] = 0;
	for (steps = 0; steps < 10; steps++) {
		EXPECT(skyrail_flight_step(h, actions), SKYRAIL_OK);
	}
	for (i = 0; i < BATCH; i++) {
		EXPECT(three.counts[i * SKYRAIL_COUNTS + SKYRAIL_STEP], 10);
		EXPECT(skyrail_flight_reset(single, &seeds[i], NULL, NULL), SKYRAIL_OK);
		for (steps = 0; steps < 10; steps++) {
			EXPECT(skyrail_flight_step_one(single, 0) >= 0, 1);
		}
		EXPECT(memcmp(&three.observations[i * OBSERVATION], one.observations, row), 0);
		EXPECT(memcmp(&three.masks[i * ACTIONS], one.masks, ACTIONS), 0);
		EXPECT(three.rewards[i] == one.rewards[0], 1);
	}
	for (steps = 0; steps < 10; steps++) { /* into other arrays, with and without bound ones */
		EXPECT(skyrail_flight_step_into(h, actions, other.observations, other.counts, NULL), SKYRAIL_OK);
		EXPECT(memcmp(other.observations, three.observations, BATCH * row), 0);
		EXPECT(memcmp(other.counts, three.counts, BATCH * SKYRAIL_COUNTS * sizeof other.counts[0]), 0);
	}
	EXPECT(skyrail_flight_step_into(h, actions, NULL, NULL, NULL), SKYRAIL_OK);
	EXPECT(three.counts[SKYRAIL_STEP], 21);
	EXPECT(other.counts[SKYRAIL_STEP], 20);
	EXPECT(skyrail_flight_destroy(h), SKYRAIL_OK);
	useless(h);
}

/* The random stream of an environment can be told and set. */
static void a_stream(skyrail_handle h) {
	uint64_t words[6], again[6], bad[6] = {0, 0, 0, 0, 2, 0};
	EXPECT(skyrail_flight_stream(h, 0, words), SKYRAIL_OK);
	EXPECT(skyrail_flight_set_stream(h, 0, words), SKYRAIL_OK);
	EXPECT(skyrail_flight_stream(h, 0, again), SKYRAIL_OK);
	EXPECT(memcmp(words, again, sizeof words), 0);
	REFUSED(skyrail_flight_set_stream(h, 0, bad), SKYRAIL_BAD_ARGUMENT, "not the state of a stream");
	REFUSED(skyrail_flight_stream(h, 0, NULL), SKYRAIL_BAD_ARGUMENT, "no room");
}

/* Agents answer observations, or for the environments as they are. */
static void a_crew(skyrail_handle flight) {
	skyrail_flight_config config = standard();
	uint64_t seed = SEED;
	int64_t idle[1] = {9}, action[1] = {-1};
	skyrail_handle h, rules;

	REFUSED(skyrail_crew_create(NULL, 1, 1, "noop", 0), SKYRAIL_BAD_ARGUMENT, "no configuration");
	REFUSED(skyrail_crew_create(&config, 1, 1, "nobody", 0), SKYRAIL_BAD_ARGUMENT, "\"nobody\"");
	REFUSED(skyrail_crew_act(0, one.observations, idle), SKYRAIL_BAD_HANDLE, "no such handle");
	h = skyrail_crew_create(&config, 1, 1, "noop", 0);
	rules = skyrail_crew_create(&config, 1, 1, "rule-based", 0);
	EXPECT(h > 0 && rules > 0, 1);
	EXPECT(skyrail_flight_reset(flight, &seed, NULL, NULL), SKYRAIL_OK);
	EXPECT(skyrail_crew_act(h, one.observations, idle), SKYRAIL_OK);
	EXPECT(idle[0], 0);
	EXPECT(skyrail_crew_act_in(rules, flight, action), SKYRAIL_OK);
	EXPECT(action[0] > 0 && action[0] < ACTIONS && one.masks[action[0]] == 1, 1); /* somebody is in somebody's way */
	REFUSED(skyrail_crew_act_in(rules, 0, action), SKYRAIL_BAD_HANDLE, "no such handle");
	EXPECT(skyrail_crew_destroy(h), SKYRAIL_OK);
	EXPECT(skyrail_crew_destroy(rules), SKYRAIL_OK);
	REFUSED(skyrail_crew_destroy(h), SKYRAIL_BAD_HANDLE, "no such handle");
}

static void a_railway(void) {
	const char *parameters = "{\"n_agents\": 2, \"x_dim\": 30, \"y_dim\": 30, \"n_cities\": 2, \"seed\": 1}";
	skyrail_rail_config config;
	skyrail_rail_buffers buffers;
	skyrail_rail_facts facts;
	uint64_t seeds[BATCH] = {7, 8, 9};
	int64_t size;
	int steps = 0;
	skyrail_handle h, policy;

	memset(&config, 0, sizeof config);
	config.n_envs = BATCH;
	config.threads = 2;
	config.autoreset = SKYRAIL_DISABLED;
	REFUSED(skyrail_rail_create_generated(&config, parameters), SKYRAIL_BAD_ARGUMENT, "rewards");
	config.rewards = "default";
	REFUSED(skyrail_rail_create_generated(NULL, parameters), SKYRAIL_BAD_ARGUMENT, "no configuration");
	REFUSED(skyrail_rail_create_generated(&config, "{\"n_trains\": 2}"), SKYRAIL_BAD_ARGUMENT, "n_trains");
	REFUSED(skyrail_rail_create_file(&config, bytes, 3), SKYRAIL_BAD_ARGUMENT, "");
	h = skyrail_rail_create_generated(&config, parameters);
	EXPECT(h > 0, 1);
	EXPECT(skyrail_rail_facts_of(h, 0, &facts), SKYRAIL_OK);
	EXPECT(facts.trains, TRAINS);
	EXPECT(facts.rows, 30);
	EXPECT(facts.reward_width, 1);
	REFUSED(skyrail_rail_facts_of(h, BATCH, &facts), SKYRAIL_BAD_ARGUMENT, "3");
	EXPECT(skyrail_rail_stops(h, 0, NULL, 0), 0); /* their ways are direct */
	REFUSED(skyrail_rail_stops(h, BATCH, NULL, 0), SKYRAIL_BAD_ARGUMENT, "3");

	memset(&buffers, 0, sizeof buffers);
	buffers.rewards = earned;
	buffers.all_done = over;
	buffers.now.state = states;
	EXPECT(skyrail_rail_bind(h, &buffers), SKYRAIL_OK);
	EXPECT(skyrail_rail_reset(h, seeds, NULL, NULL), SKYRAIL_OK);
	moves[BATCH * TRAINS - 1] = 5;
	REFUSED(skyrail_rail_step(h, moves), SKYRAIL_BAD_ACTION, "5");
	EXPECT(skyrail_rail_facts_of(h, 0, &facts), SKYRAIL_OK);
	EXPECT(facts.elapsed, 0);

	size = skyrail_rail_save(h, 0, NULL, 0);
	EXPECT(size > 0 && size <= ROOM, 1);
	REFUSED(skyrail_rail_save(h, 0, bytes, size - 1), SKYRAIL_TOO_SMALL, "needed");
	EXPECT(skyrail_rail_save(h, 0, bytes, ROOM), size);

	REFUSED(skyrail_rail_policy_create("nobody", 0), SKYRAIL_BAD_ARGUMENT, "nobody");
	policy = skyrail_rail_policy_create("deadlock-avoidance", 0);
	EXPECT(policy > 0, 1);
	while (!over[0] && !over[1] && !over[2] && steps < 2000) {
		EXPECT(skyrail_rail_policy_act(policy, h, moves), SKYRAIL_OK);
		EXPECT(skyrail_rail_step(h, moves), SKYRAIL_OK);
		steps++;
	}
	REFUSED(skyrail_rail_step(h, moves), SKYRAIL_NOT_NOW, ""); /* one of them is over */
	EXPECT(steps > 0 && steps < 2000, 1);
	memcpy(same, states, sizeof same);
	EXPECT(skyrail_rail_load(h, 0, bytes, size), SKYRAIL_OK);
	EXPECT(memcmp(same, states, TRAINS) != 0, 1);
	EXPECT(memcmp(same + TRAINS, states + TRAINS, sizeof same - TRAINS), 0);

	EXPECT(skyrail_rail_policy_destroy(policy), SKYRAIL_OK);
	REFUSED(skyrail_rail_policy_act(policy, h, moves), SKYRAIL_BAD_HANDLE, "no such handle");
	EXPECT(skyrail_rail_destroy(h), SKYRAIL_OK);
	REFUSED(skyrail_rail_destroy(h), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_rail_step(h, moves), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_rail_reset(h, NULL, NULL, NULL), SKYRAIL_BAD_HANDLE, "no such handle");
	REFUSED(skyrail_rail_clone(h), SKYRAIL_BAD_HANDLE, "no such handle");
}

int main(void) {
	skyrail_flight_config config = standard();
	skyrail_handle h;

	EXPECT(skyrail_abi(), SKYRAIL_ABI);
	creating();
	useless(0);
	useless(-1);
	useless(1000000);
	h = skyrail_flight_create(&config, 1, 1, SKYRAIL_DISABLED);
	EXPECT(h > 0, 1);
	EXPECT(skyrail_handles(), 1);
	an_episode(h);
	the_same_future(h);
	a_batch(h);
	a_stream(h);
	a_crew(h);
	a_railway();
	EXPECT(skyrail_handles(), 1);
	EXPECT(skyrail_flight_destroy(h), SKYRAIL_OK);
	useless(h);
	EXPECT(skyrail_handles(), 0);
	printf("%d looked at, %d wrong\n", looked, wrong);
	return wrong != 0;
}
