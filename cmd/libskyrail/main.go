// Command libskyrail is a shared library: the simulators behind the C ABI of skyrail.h, for Python and others.
//
//	go build -buildmode=c-shared -o libskyrail.so ./cmd/libskyrail
//
// The functions here turn handles into objects and pointers into slices, and nothing else: what they do is done by
// flight/batch and rail/batch. This is the only package that uses cgo.
package main

/*
#include "skyrail.h"
#include "error.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"skyrail/flight"
	"skyrail/internal/memory"
	"skyrail/internal/workers"
	"skyrail/rail"
	"skyrail/rail/batch"
)

func main() {}

//export skyrail_abi
func skyrail_abi() C.int32_t { return C.SKYRAIL_ABI }

//export skyrail_error
func skyrail_error() C.skyrail_text { return C.skyrail_get_error() }

//export skyrail_handles
func skyrail_handles() C.int64_t {
	return C.int64_t(sectors.Len() + crews.Len() + railways.Len() + policies.Len())
}

var (
	errHandle = errors.New("no such handle: it was destroyed, or never given out")
	errNotNow = errors.New("no episode has begun: reset first")
)

// tooSmall is a buffer without room for what is to be written.
type tooSmall struct{ room, needed int }

func (e *tooSmall) Error() string {
	return fmt.Sprintf("the buffer has room for %d bytes, %d are needed", e.room, e.needed)
}

// fail keeps an error for skyrail_error and returns its code.
func fail(err error) C.int32_t {
	text := err.Error()
	C.skyrail_set_error((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	var action *flight.ActionError
	var move *batch.ActionError
	var fault *workers.Fault
	var small *tooSmall
	var room *memory.Error
	switch {
	case errors.Is(err, errHandle):
		return C.SKYRAIL_BAD_HANDLE
	case errors.Is(err, errNotNow), errors.Is(err, batch.ErrNotBegun), errors.Is(err, rail.ErrDone):
		return C.SKYRAIL_NOT_NOW
	case errors.As(err, &action), errors.As(err, &move):
		return C.SKYRAIL_BAD_ACTION
	case errors.As(err, &fault):
		return C.SKYRAIL_FAULT
	case errors.As(err, &small):
		return C.SKYRAIL_TOO_SMALL
	case errors.As(err, &room):
		return C.SKYRAIL_NO_MEMORY
	}
	return C.SKYRAIL_BAD_ARGUMENT
}

// code is what a function returns for an error.
func code(err error) C.int32_t {
	if err != nil {
		return fail(err)
	}
	return C.SKYRAIL_OK
}

// guard makes a panic an error, so that a fault here does not end the process of the caller. It is deferred.
func guard[T ~int32 | ~int64](result *T) {
	if v := recover(); v != nil {
		fail(fmt.Errorf("a fault of libskyrail, please report it: %v\n%s", v, debug.Stack()))
		*result = T(C.SKYRAIL_FAULT)
	}
}

// array is the slice of n elements at p, nil for NULL.
func array[T, C any](p *C, n int) []T {
	if p == nil {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(p)), n)
}
