//go:build !linux

package sandbox

import "errors"

// hierarchy and group are control groups, which only Linux has.
type (
	hierarchy struct{}
	group     struct{}
)

func findHierarchy() (*hierarchy, error) { return nil, errors.ErrUnsupported }

func (*hierarchy) newGroup(Limits, int) (*group, error) { return nil, errors.ErrUnsupported }

func (*group) add(int) error         { return errors.ErrUnsupported }
func (*group) usage() (usage, error) { return usage{}, errors.ErrUnsupported }
func (*group) kill() error           { return errors.ErrUnsupported }
func (*group) remove() error         { return errors.ErrUnsupported }
