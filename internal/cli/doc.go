// Package cli is the command line: one file a command, with its flags, one call into a library and the
// rendering of what came back. [Main] is the whole program.
//
// Tables for people go to standard output, with --json the same facts; progress and remarks go to standard
// error. What a command writes to a file appears whole or not at all.
package cli
