// Command native has programs under Wine run programs of the system that Wine runs on, such as git: Wine can start these, but
// doesn't wait for them. Built for Windows and called git.exe, it hands its arguments, directory, environment and input to the
// one that was built for this system and runs as
//
//	native DRIVE_C PROGRAMS
//
// which runs the program, and sends back what it prints and its exit code. Paths are translated: Z: is /, and C: is the
// directory DRIVE_C. PROGRAMS is the directory with git.exe and the file "address", whose path git.exe is linked with (-X
// main.address=...). Where a file of the name without .exe lies beside a program, it is a script for a shell. A program is
// killed when the one that asks for it is gone, and all end when the standard input of this one does.
package main

import (
	"fmt"
	"os"
)

// call is what is run; after it comes its standard input.
type call struct {
	Program, Dir string
	Args, Env    []string
}

// answer is what the program has printed, and after that how it ended. An empty one says that it runs.
type answer struct {
	Out, Err []byte
	Ended    bool
	Code     int
}

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
