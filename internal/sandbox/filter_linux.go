package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// denied are system calls that no agent needs and that most ways out of a container have begun with. They fail with
// EPERM. Some exist on one architecture only.
var denied = []string{
	// Other processes: there are none but its own, and those it can talk to otherwise.
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "pidfd_getfd", "kcmp",
	// Namespaces and mounts.
	"unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen", "fsconfig",
	"fsmount", "fspick", "mount_setattr", "statmount", "listmount",
	// Large and young interfaces of the kernel.
	"bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "perf_event_open", "userfaultfd", "memfd_secret",
	"fanotify_init", "fanotify_mark", "add_key", "request_key", "keyctl", "vmsplice", "map_shadow_stack",
	// Files by handle, past the mounts.
	"name_to_handle_at", "open_by_handle_at",
	// The machine: these ask for capabilities that the program lacks; a second lock.
	"kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "create_module", "query_module",
	"get_kernel_syms", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime",
	"clock_adjtime", "adjtimex", "sethostname", "setdomainname", "syslog", "vhangup", "nfsservctl", "lookup_dcookie",
	"iopl", "ioperm", "modify_ldt", "uselib", "ustat", "sysfs", "_sysctl", "personality",
	"move_pages", "migrate_pages", "mbind", "set_mempolicy", "set_mempolicy_home_node",
}

// newNamespaces are the flags of clone that make one.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// systemCallFilter returns the filter as bubblewrap loads it, right before it runs the program.
func systemCallFilter() ([]byte, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range denied {
		if _, ok := machine.SyscallNames[name]; ok {
			names = append(names, name)
		}
	}
	errno := func(e unix.Errno) seccomp.Action { return seccomp.ActionErrno | seccomp.Action(e) }
	family := func(f uint64) seccomp.Condition {
		return seccomp.Condition{Argument: 0, Operation: seccomp.NotEqual, Value: f}
	}
	policy := seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Action: errno(unix.EPERM), Names: names},
			{Action: errno(unix.EPERM), NamesWithCondtions: []seccomp.NameWithConditions{{
				Name:       "clone",
				Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: newNamespaces}},
			}}},
			// Its flags are in memory, where a filter cannot look; C libraries then use clone.
			{Action: errno(unix.ENOSYS), Names: []string{"clone3"}},
			// A network namespace holds IP and the like, but not, for one, the sockets of a virtual machine to its host.
			{Action: errno(unix.EAFNOSUPPORT), NamesWithCondtions: []seccomp.NameWithConditions{{
				Name:       "socket",
				Conditions: seccomp.ArgumentConditions{family(unix.AF_UNIX), family(unix.AF_INET), family(unix.AF_INET6)},
			}}},
		},
	}
	program, err := policy.Assemble()
	if err != nil {
		return nil, err
	}
	// The library lets system calls of another architecture pass, such as those of 32-bit code on a 64-bit machine, whose
	// numbers mean other calls. They end the program.
	program = append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // seccomp_data.arch
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(machine.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
	}, program...)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, raw); err != nil { // the fields of struct sock_filter, without gaps
		return nil, err
	}
	return b.Bytes(), nil
}
