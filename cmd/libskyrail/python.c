/* Steps of single environments as Python callables: what a step wrote is made into the five values that Gymnasium and
 * PettingZoo want right here, since that costs more than the step itself if Python does it.
 *
 * The library is no extension module. It needs no Python to be built and none to be used from C: where an interpreter
 * has loaded it, it finds the functions of Python's stable ABI in the process, and declares here those it uses. Where
 * there are none, the steppers are NULL and the Python package does without. */
#include "python.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct object object; /* PyObject: never looked into */

typedef object *method(object *self, object *argument);

typedef struct { /* PyMethodDef */
	const char *name;
	method *function;
	int flags;
	const char *doc;
} method_def;

enum { ONE_ARGUMENT = 0x0008 }; /* METH_O */

/* The functions, named as Python's without their Py; an asterisk is in their types already. */
#define FUNCTIONS(F)                                                        \
	F(object *, Bool_FromLong, (long))                                      \
	F(object *, Bytes_FromStringAndSize, (const char *, ptrdiff_t))         \
	F(object *, CFunction_NewEx, (method_def *, object *, object *))        \
	F(object *, Capsule_New, (void *, const char *, void (*)(object *)))    \
	F(void *, Capsule_GetPointer, (object *, const char *))                 \
	F(object *, Dict_Copy, (object *))                                      \
	F(object *, Dict_GetItemWithError, (object *, object *))                \
	F(object *, Dict_New, (void))                                           \
	F(int, Dict_SetItem, (object *, object *, object *))                    \
	F(ptrdiff_t, Dict_Size, (object *))                                     \
	F(void, Err_Clear, (void))                                              \
	F(int, Err_ExceptionMatches, (object *))                                \
	F(object *, Err_NoMemory, (void))                                       \
	F(object *, Err_Occurred, (void))                                       \
	F(object *, Float_FromDouble, (double))                                 \
	F(long, Long_AsLong, (object *))                                        \
	F(object *, Long_FromLongLong, (long long))                             \
	F(object *, Object_CallFunctionObjArgs, (object *, ...))                \
	F(object *, Object_CallNoArgs, (object *))                              \
	F(int, Object_SetAttr, (object *, object *, object *))                  \
	F(object *, Object_Type, (object *))                                    \
	F(object *, Tuple_New, (ptrdiff_t))                                     \
	F(object *, Tuple_GetItem, (object *, ptrdiff_t))                       \
	F(int, Tuple_SetItem, (object *, ptrdiff_t, object *))                  \
	F(ptrdiff_t, Tuple_Size, (object *))                                    \
	F(object *, Unicode_InternFromString, (const char *))                   \
	F(void, _DecRef, (object *))                                            \
	F(void, _IncRef, (object *))

static struct {
	int found;
	object *none, *bool_type, *dict_type;
	object **type_error, **overflow_error; /* variables */
#define F(result, name, arguments) result(*name) arguments;
	FUNCTIONS(F)
#undef F
} py;

#ifdef _WIN32
static int find_python(void) { return 0; }
#else
#include <dlfcn.h>

static int find_python(void) {
	if (py.found) {
		return 1;
	}
#define F(result, name, arguments)                                          \
	if ((*(void **)&py.name = dlsym(RTLD_DEFAULT, "Py" #name)) == NULL) {   \
		return 0;                                                           \
	}
	FUNCTIONS(F)
#undef F
	py.none = dlsym(RTLD_DEFAULT, "_Py_NoneStruct");
	py.bool_type = dlsym(RTLD_DEFAULT, "PyBool_Type");
	py.dict_type = dlsym(RTLD_DEFAULT, "PyDict_Type");
	py.type_error = dlsym(RTLD_DEFAULT, "PyExc_TypeError");
	py.overflow_error = dlsym(RTLD_DEFAULT, "PyExc_OverflowError");
	return py.found = py.none != NULL && py.bool_type != NULL && py.dict_type != NULL && py.type_error != NULL &&
					  py.overflow_error != NULL;
}
#endif

/* What every stepper begins with: the objects it holds on to, and then NULL. */
enum { HELD = 8 };

static void end(object *capsule) {
	object **held = py.Capsule_GetPointer(capsule, NULL);
	for (int i = 0; held[i] != NULL; i++) {
		py._DecRef(held[i]);
	}
	free(held);
}

/* callable makes a Python callable of a function and the stepper that it is given in a capsule. The stepper is its own
 * from then on, and so are references to what it holds. */
static object *callable(method_def *definition, void *stepper) {
	object *self = py.Capsule_New(stepper, NULL, end);
	if (self == NULL) {
		free(stepper); /* what it holds is lost: there is no memory left */
		return NULL;
	}
	object *function = py.CFunction_NewEx(definition, self, NULL);
	py._DecRef(self);
	return function;
}

static object *shared(object *value) {
	py._IncRef(value);
	return value;
}

static object *nothing(void) { return shared(py.none); }

/* is says whether an object is of just this type. */
static int is(object *value, object *type) {
	object *its = py.Object_Type(value);
	if (its == NULL) {
		py.Err_Clear();
		return 0;
	}
	py._DecRef(its); /* the value has it */
	return its == type;
}

enum { NONE = -1, FAILED = -2 };

/* number is what an object is as an integer within 0..limit-1, NONE if it is none, FAILED if finding out has raised
 * something else, such as an interrupt. */
static long number(object *value, long limit) {
	long n = py.Long_AsLong(value);
	if (n == -1 && py.Err_Occurred()) {
		if (!py.Err_ExceptionMatches(*py.type_error) && !py.Err_ExceptionMatches(*py.overflow_error)) {
			return FAILED;
		}
		py.Err_Clear();
	}
	return n >= 0 && n < limit ? n : NONE;
}

/* five makes a tuple of values that it takes; NULL if one of them is. */
static object *five(object *values[5]) {
	object *tuple = py.Tuple_New(5);
	int missing = tuple == NULL;
	for (int i = 0; i < 5; i++) {
		if (values[i] == NULL) {
			missing = 1;
		} else if (tuple != NULL) {
			py.Tuple_SetItem(tuple, i, values[i]);
		} else {
			py._DecRef(values[i]);
		}
	}
	if (missing && tuple != NULL) {
		py._DecRef(tuple);
		tuple = NULL;
	}
	return tuple;
}

/* with_raw sets the attribute _raw of a new object, which may be NULL, to bytes, and gives the object back. */
static object *with_raw(object *made, object *raw, const void *bytes, int64_t size) {
	object *copy = py.Bytes_FromStringAndSize(bytes, (ptrdiff_t)size);
	if (made != NULL && (copy == NULL || py.Object_SetAttr(made, raw, copy) != 0)) {
		py._DecRef(made);
		made = NULL;
	}
	if (copy != NULL) {
		py._DecRef(copy);
	}
	return made;
}

/* set puts a new value, which may be NULL, into a new dict, which may be NULL, and gives the dict back. */
static object *set(object *dict, object *key, object *value) {
	if (dict != NULL && (value == NULL || py.Dict_SetItem(dict, key, value) != 0)) {
		py._DecRef(dict);
		dict = NULL;
	}
	if (value != NULL) {
		py._DecRef(value);
	}
	return dict;
}

/* ---------------------------------------------------------------- a sector */

typedef struct {
	union {
		object *held[HELD];
		struct {
			object *observe, *new_info, *first, *raw;
		};
	};
	skyrail_flight_arrays of;
} sector;

static object *step_sector(object *self, object *action) {
	const sector *s = py.Capsule_GetPointer(self, NULL);
	long index = is(action, py.bool_type) ? NONE : number(action, (long)s->of.actions);
	if (index < 0) {
		return index == FAILED ? NULL : nothing();
	}
	int32_t ended = skyrail_flight_step_one(s->of.handle, (int32_t)index);
	if (ended < 0) {
		return nothing();
	}
	object *info = set(py.Object_CallNoArgs(s->new_info), s->first, py.Long_FromLongLong(s->of.info[0]));
	return five((object *[]){
		py.Object_CallNoArgs(s->observe),
		py.Float_FromDouble(*s->of.reward),
		py.Bool_FromLong(ended & 1),
		py.Bool_FromLong(ended >> 1 & 1),
		with_raw(info, s->raw, s->of.info, s->of.info_size),
	});
}

static method_def sector_method = {"step", step_sector, ONE_ARGUMENT, NULL};

/* See python.h. */
void *skyrail_flight_stepper(const skyrail_flight_arrays *arrays, void *observe, void *new_info) {
	if (!find_python()) {
		return NULL;
	}
	sector *s = calloc(1, sizeof *s);
	if (s == NULL) {
		return py.Err_NoMemory();
	}
	s->first = py.Unicode_InternFromString("n");
	s->raw = py.Unicode_InternFromString("_raw");
	if (s->first == NULL || s->raw == NULL) {
		free(s);
		return NULL;
	}
	s->observe = shared(observe), s->new_info = shared(new_info);
	s->of = *arrays;
	return callable(&sector_method, s);
}

/* ---------------------------------------------------------------- a railway */

enum { MOVES = 5, REWARDED = 1 };

typedef struct {
	union {
		object *held[HELD];
		struct {
			object *agents, *observe, *no_rewards, *no, *new_infos, *blank, *raw;
		};
	};
	skyrail_rail_step_arrays of;
	ptrdiff_t count;
	int32_t *trains; /* of the agents */
	uint8_t *given;
	int reading; /* the actions of a step */
} railway;

static object *rewards(const railway *r) {
	object *made = py.Dict_New();
	for (ptrdiff_t k = 0; k < r->count && made != NULL; k++) {
		made = set(made, py.Tuple_GetItem(r->agents, k), py.Float_FromDouble(r->of.rewards[r->trains[k]]));
	}
	return made;
}

static object *step_railway(object *self, object *actions) {
	railway *r = py.Capsule_GetPointer(self, NULL);
	/* An action may be an object that steps the same railway when it is asked for its number. */
	if (r->reading || !is(actions, py.dict_type) || py.Dict_Size(actions) != r->count) {
		return nothing();
	}
	r->reading = 1;
	long move = 0;
	for (ptrdiff_t k = 0; k < r->count && move >= 0; k++) {
		object *action = py.Dict_GetItemWithError(actions, py.Tuple_GetItem(r->agents, k));
		if (action == NULL) {
			move = py.Err_Occurred() ? FAILED : NONE;
			break;
		}
		move = number(action, MOVES);
		r->given[k] = (uint8_t)move;
	}
	r->reading = 0;
	if (move < 0) {
		return move == FAILED ? NULL : nothing();
	}
	int32_t outcome = skyrail_rail_step_live(r->of.handle, r->given, (int32_t)r->count);
	if (outcome < 0) {
		return nothing();
	}
	if (outcome & ~REWARDED || (outcome & REWARDED && r->of.rewards == NULL)) {
		return py.Long_FromLongLong(outcome);
	}
	object *infos = py.Object_CallFunctionObjArgs(r->new_infos, r->blank, NULL);
	return five((object *[]){
		py.Object_CallNoArgs(r->observe),
		outcome & REWARDED ? rewards(r) : py.Dict_Copy(r->no_rewards),
		py.Dict_Copy(r->no),
		py.Dict_Copy(r->no),
		with_raw(infos, r->raw, r->of.info, r->of.info_size),
	});
}

static method_def railway_method = {"step", step_railway, ONE_ARGUMENT, NULL};

/* See python.h. */
void *skyrail_rail_stepper(const skyrail_rail_step_arrays *arrays, void *agents, void *observe, void *no_rewards,
						   void *no, void *new_infos, void *blank) {
	if (!find_python()) {
		return NULL;
	}
	ptrdiff_t count = py.Tuple_Size(agents);
	if (count < 0) {
		return NULL;
	}
	railway *r = calloc(1, sizeof *r + (size_t)count * (sizeof *r->trains + sizeof *r->given));
	if (r == NULL) {
		return py.Err_NoMemory();
	}
	r->count = count;
	r->trains = (int32_t *)(r + 1);
	r->given = (uint8_t *)(r->trains + count);
	for (ptrdiff_t k = 0; k < count; k++) {
		r->trains[k] = (int32_t)py.Long_AsLong(py.Tuple_GetItem(agents, k));
	}
	if ((r->raw = py.Unicode_InternFromString("_raw")) == NULL) {
		free(r);
		return NULL;
	}
	r->agents = shared(agents), r->observe = shared(observe);
	r->no_rewards = shared(no_rewards), r->no = shared(no);
	r->new_infos = shared(new_infos), r->blank = shared(blank);
	r->of = *arrays;
	return callable(&railway_method, r);
}
