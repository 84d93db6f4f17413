/* The step of a single sector as a Python callable: what skyrail_flight_step_one wrote is made into the five values that
 * Gymnasium wants right here, since that costs more than the step itself if Python does it.
 *
 * The library is no extension module. It needs no Python to be built and none to be used from C: where an interpreter
 * has loaded it, it finds the functions of Python's stable ABI in the process, and declares here those it uses. Where
 * there are none, skyrail_flight_stepper returns NULL and the Python package does without. */
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
	F(int, Dict_SetItem, (object *, object *, object *))                    \
	F(void, Err_Clear, (void))                                              \
	F(object *, Err_NoMemory, (void))                                       \
	F(object *, Err_Occurred, (void))                                       \
	F(object *, Float_FromDouble, (double))                                 \
	F(long, Long_AsLong, (object *))                                        \
	F(object *, Long_FromLongLong, (long long))                             \
	F(object *, Object_CallNoArgs, (object *))                              \
	F(int, Object_SetAttr, (object *, object *, object *))                  \
	F(object *, Object_Type, (object *))                                    \
	F(object *, Tuple_New, (ptrdiff_t))                                     \
	F(int, Tuple_SetItem, (object *, ptrdiff_t, object *))                  \
	F(object *, Unicode_InternFromString, (const char *))                   \
	F(void, _DecRef, (object *))                                            \
	F(void, _IncRef, (object *))

static struct {
	int found;
	object *none, *bool_type;
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
	return py.found = py.none != NULL && py.bool_type != NULL;
}
#endif

typedef struct {
	skyrail_flight_arrays arrays;
	object *observe, *new_info, *first, *raw;
} stepper;

/* info is what `new_info` makes, with the converging aircraft as "n" and the figures as `_raw`. */
static object *info_of(const stepper *s) {
	object *info = py.Object_CallNoArgs(s->new_info);
	object *converging = py.Long_FromLongLong(s->arrays.info[0]);
	object *raw = py.Bytes_FromStringAndSize((const char *)s->arrays.info, s->arrays.info_size);
	if (info != NULL && (converging == NULL || raw == NULL || py.Dict_SetItem(info, s->first, converging) != 0 ||
						 py.Object_SetAttr(info, s->raw, raw) != 0)) {
		py._DecRef(info);
		info = NULL;
	}
	if (converging != NULL) {
		py._DecRef(converging);
	}
	if (raw != NULL) {
		py._DecRef(raw);
	}
	return info;
}

static object *nothing(void) {
	py._IncRef(py.none);
	return py.none;
}

/* step flies one step and returns (observation, reward, terminated, truncated, info), or None if it has not: because the
 * action is no integer or not in the action space, or the sector cannot fly. */
static object *step(object *self, object *action) {
	const stepper *s = py.Capsule_GetPointer(self, NULL);
	const skyrail_flight_arrays *to = &s->arrays;
	object *type = py.Object_Type(action);
	if (type == NULL) {
		return NULL;
	}
	py._DecRef(type); /* the action has it */
	if (type == py.bool_type) {
		return nothing();
	}
	long index = py.Long_AsLong(action);
	if (index < 0 || index >= to->actions) {
		if (index == -1 && py.Err_Occurred()) {
			py.Err_Clear();
		}
		return nothing();
	}
	int32_t ended = skyrail_flight_step_one(to->handle, (int32_t)index);
	if (ended < 0) {
		return nothing();
	}
	object *five = py.Tuple_New(5);
	if (five == NULL) {
		return NULL;
	}
	object *values[5] = {py.Object_CallNoArgs(s->observe), py.Float_FromDouble(*to->reward), py.Bool_FromLong(ended & 1),
						 py.Bool_FromLong(ended >> 1 & 1), info_of(s)};
	int missing = 0;
	for (int i = 0; i < 5; i++) {
		missing |= values[i] == NULL;
		if (values[i] != NULL) {
			py.Tuple_SetItem(five, i, values[i]);
		}
	}
	if (missing) {
		py._DecRef(five);
		return NULL;
	}
	return five;
}

static void end(object *capsule) {
	stepper *s = py.Capsule_GetPointer(capsule, NULL);
	object *held[] = {s->observe, s->new_info, s->first, s->raw};
	for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
		if (held[i] != NULL) {
			py._DecRef(held[i]);
		}
	}
	free(s);
}

static method_def definition = {"step", step, ONE_ARGUMENT, NULL};

void *skyrail_flight_stepper(const skyrail_flight_arrays *arrays, void *observe, void *new_info) {
	if (!find_python()) {
		return NULL;
	}
	stepper *s = malloc(sizeof *s);
	if (s == NULL) {
		return py.Err_NoMemory();
	}
	*s = (stepper){*arrays, observe, new_info, NULL, NULL};
	py._IncRef(observe);
	py._IncRef(new_info);
	s->first = py.Unicode_InternFromString("n");
	s->raw = py.Unicode_InternFromString("_raw");
	object *self = py.Capsule_New(s, NULL, end);
	if (self == NULL) {
		return NULL; /* with what it holds: there is no memory left */
	}
	object *function = s->first != NULL && s->raw != NULL ? py.CFunction_NewEx(&definition, self, NULL) : NULL;
	py._DecRef(self);
	return function;
}
