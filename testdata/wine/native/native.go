// Command native lets programs under Wine run programs of the host system, such as git. Wine itself can start these, but
// doesn't wait for them. Built for Windows and called git.exe, it sends its arguments, directory, environment and input to the
// server, which is built for the host and runs as
//
//	native DRIVE_C PROGRAMS
//
// and which runs the program, and sends back its output and exit code. Paths are translated: Z: is /, and C: is the
// directory DRIVE_C. PROGRAMS is the directory with git.exe and the file "address", whose path is linked into git.exe (-X
// main.address=...). If a file of the same name without .exe is beside a program, it is a shell script. A program is
// killed when its client ends, and all programs end when the server's stdin does.
package main

import (
	"fmt"
	"os"
)

// call is the program to run; its stdin follows.
type call struct {
	Program, Dir string
	Args, Env    []string
}

// answer is output of the program, or its end. An empty answer says that it still runs.
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
