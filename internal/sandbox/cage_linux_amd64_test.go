package sandbox

import (
	"fmt"
	"testing"
)

// Here alone is machine code of another architecture that this one runs.
func TestSystemCallsOfOtherArchitecturesEndTheProgram(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"32-bit getpid": `\xb8\x14\x00\x00\x00\xcd\x80\xc3`, // mov eax, 20; int 0x80; ret
	} {
		r := run(t, cageBox(t), program(t, `
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
m.write(b"`+code+`")
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))())`))
		if r.Exit != 128+31 && r.Exit != 128+11 { // SIGSYS, or SIGSEGV if the kernel has no 32-bit calls
			t.Errorf("%s: got status %d and output %s, want it killed", name, r.Exit, r.Output)
		}
	}
	// The 32-bit pointers of x32 have the numbers of amd64 with a bit set.
	wantRefused(t, nil, [][2]string{{fmt.Sprintf("call(0x40000000 + %d, 0, 0, 0, 0)", number64("ptrace")), "ENOSYS"}})
}
