package command

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/providercache"
)

// HashCommand prints the hashes that a lock file has for packages.
type HashCommand struct{ Meta *Meta }

// Synopsis says in a line what the command is for.
func (c *HashCommand) Synopsis() string { return "Show the hashes of provider packages" }

// Run carries the command out and returns the exit code.
func (c *HashCommand) Run(args []string) int {
	flags := newFlags("hash")
	json := flags.Bool("json", false, "")
	if err := flags.Parse(args); err != nil {
		return c.Meta.misused(&usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}, c.Help())
	}
	if flags.NArg() == 0 {
		return c.Meta.misused(&usageError{text: "The hash command needs the path of a package.", help: true}, c.Help())
	}
	var hashes []view.PackageHashes
	for _, path := range flags.Args() {
		h1, zh, err := providercache.HashPackage(c.Meta.Context, path)
		if err != nil {
			fmt.Fprintf(c.Meta.Stderr, "Error: %s\n", err)
			return 1
		}
		hashes = append(hashes, view.PackageHashes{Path: path, H1: h1, ZH: zh})
	}
	if err := view.WriteHashes(c.Meta.Stdout, hashes, *json); err != nil {
		fmt.Fprintf(c.Meta.Stderr, "Error: %s\n", err)
		return 1
	}
	return 0
}

const hashUsage = `Usage: tfdeps [global options] hash [options] FILE.zip|DIR...

  Shows the hashes that a dependency lock file has for provider packages: h1 of
  the files, and zh of an archive.

Options:

  -json   Print a JSON array with an object for each: path, h1, zh. There is no
          zh for a directory.`

// Help is what "tfdeps hash -help" prints.
func (c *HashCommand) Help() string { return hashUsage }
