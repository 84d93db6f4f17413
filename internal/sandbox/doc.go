// Package sandbox runs one program that nobody vouches for, such as the Python code of a team, and tells how it ended.
//
// A [Box] is this machine's way of confining programs. A [Command] says what to run, what of the host it may read, which
// open files it inherits, and its [Limits]. [Box.Start] gives a [Program], and [Program.Wait] a [Result], whose [Cause] is
// the verdict: the program exited, or one of its limits, or the caller, ended it. A verdict is a value; an error is a
// fault of the machine or of the caller, never of the program.
//
//	box, err := sandbox.New(sandbox.Cage)
//	…
//	program, err := box.Start(ctx, sandbox.Command{
//		Path:     "/usr/bin/python3",
//		Args:     []string{"/team/agent.py"},
//		Env:      []string{"PATH=/usr/bin", "LANG=C.UTF-8"},
//		Mounts:   []sandbox.Mount{{Host: folder, Inside: "/team"}},
//		Limits:   sandbox.DefaultLimits(),
//	})
//	…
//	result, err := program.Wait()
//
// # The cage
//
// [Cage] needs Linux, bubblewrap 0.8 or later and control groups of either version that this process may make. The
// program has no network, its own process, mount, IPC and host names, the system read-only, a private /tmp that is gone
// afterwards, and of the rest of the host only what the Command names. It has no capability and cannot gain one; where
// we run as root it is nobody (65534), so what it is to read must be readable by everyone. A system call filter takes
// away what only an attack would use. Limits are on before its first instruction, and when Wait returns, nothing of its
// tree is alive, whoever its parents are and whatever signals it ignores.
//
// # Without a cage
//
// [Process] puts limits on a program and hides nothing from it: for code that one trusts, and for machines that have no
// cage. Result.Isolation says so. Without control groups, memory and CPU time are limited per process instead of per
// tree, the number of processes is not limited, and a process that leaves its session survives; on Windows only the
// limits on output and wall time hold, and only the program itself is ended.
//
// # What the package does not do
//
// It does not read what the program says over the inherited files, judge it, or restart it; it pulls no images and keeps
// no logs. A fault in the kernel is a way out of the cage, and programs on one machine can feel each other's load.
package sandbox
