package main

// #include "skyrail.h"
import "C"

import (
	"fmt"
	"os"
	"strings"

	"skyrail/flight"
	"skyrail/flight/agent"
	"skyrail/flight/batch"
	"skyrail/flight/planner"
	"skyrail/internal/checkpoint"
	"skyrail/internal/handles"
)

var crews handles.Table[*batch.Crew]

// factory says how agents of a name are made.
func factory(name string, cfg flight.Config, nodes int) (func() (agent.Agent, error), error) {
	budget := planner.DefaultBudget()
	switch {
	case nodes < 0 || nodes > planner.MaxNodes:
		return nil, fmt.Errorf("a budget of %d candidate plans, it must be within 0..%d", nodes, planner.MaxNodes)
	case nodes > 0:
		budget.Nodes = nodes
	}
	switch name {
	case "planner":
		return func() (agent.Agent, error) { return planner.New(cfg, budget), nil }, nil
	case "oracle":
		return func() (agent.Agent, error) { return planner.NewOracle(cfg, budget), nil }, nil
	}
	if _, err := agent.New(name, cfg); err == nil {
		return func() (agent.Agent, error) { return agent.New(name, cfg) }, nil
	}
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("no agent and no checkpoint: %q; there are %s, planner, oracle and policy.zip files", name, strings.Join(agent.Names(), ", "))
	}
	policy, err := checkpoint.Open(name)
	if err != nil {
		return nil, err
	}
	return func() (agent.Agent, error) { return policy.Agent(cfg) }, nil
}

//export skyrail_crew_create
func skyrail_crew_create(config *C.skyrail_flight_config, n, threads C.int64_t, name C.skyrail_text, nodes C.int64_t) (handle C.skyrail_handle) {
	defer guard(&handle)
	if config == nil || name == nil {
		return C.skyrail_handle(fail(fmt.Errorf("there is no configuration or no name")))
	}
	cfg := configOf(config)
	fresh, err := factory(C.GoString(name), cfg, int(nodes))
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	c, err := batch.NewCrew(cfg, int(n), int(threads), fresh)
	if err != nil {
		return C.skyrail_handle(fail(err))
	}
	return C.skyrail_handle(crews.Add(c))
}

//export skyrail_crew_destroy
func skyrail_crew_destroy(h C.skyrail_handle) (result C.int32_t) {
	defer guard(&result)
	c, ok := crews.Remove(int64(h))
	if !ok {
		return fail(errHandle)
	}
	c.Close()
	return C.SKYRAIL_OK
}

//export skyrail_crew_act
func skyrail_crew_act(h C.skyrail_handle, observations *C.float, actions *C.int64_t) (result C.int32_t) {
	defer guard(&result)
	p := crews.Acquire(int64(h))
	if p == nil {
		return fail(errHandle)
	}
	defer p.Unlock()
	n := p.Object.Len()
	return code(p.Object.Act(array[float32](observations, n*p.Object.Config().ObservationLen()), array[int64](actions, n)))
}

//export skyrail_crew_act_in
func skyrail_crew_act_in(h, flight C.skyrail_handle, actions *C.int64_t) (result C.int32_t) {
	defer guard(&result)
	// Always the crew first: no two calls wait for each other.
	p := crews.Acquire(int64(h))
	if p == nil {
		return fail(errHandle)
	}
	defer p.Unlock()
	return code(onSector(flight, func(s *sector) error {
		if !s.begun {
			return errNotNow
		}
		return p.Object.ActIn(s.Batch, array[int64](actions, p.Object.Len()))
	}))
}
