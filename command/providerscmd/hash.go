package providerscmd

import (
	"fmt"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// hashOptions are what the arguments of hash ask for.
type hashOptions struct{ json bool }

func (o *hashOptions) flags() cli.Flags {
	return cli.Flags{{Name: "json", Value: cli.Bool(&o.json),
		Help: "Print a JSON array with an object for each: path, h1, zh. There is no zh for a directory."}}
}

func hashHelp() cli.Help {
	return cli.Help{Usage: []string{"hash [options] FILE.zip|DIR..."}, Flags: new(hashOptions).flags(),
		About: `  Shows the hashes that a dependency lock file has for provider packages: h1 of
  the files, and zh of an archive.`}
}

// runHash prints the hashes that a lock file has for packages.
func runHash(m *cli.Meta, args []string) (int, error) {
	var o hashOptions
	paths, err := parsed(o.flags(), args, nil)
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, &cli.UsageError{Text: "The hash command needs the path of a package.", Help: true}
	}
	var hashes []view.PackageHashes
	for _, path := range paths {
		h1, zh, err := fetcher.HashPackage(m.Context, path)
		if err != nil {
			fmt.Fprintf(m.Stderr, "Error: %s\n", err)
			return 1, nil
		}
		hashes = append(hashes, view.PackageHashes{Path: path, H1: h1, ZH: zh})
	}
	if err := view.WriteHashes(m.Stdout, hashes, o.json); err != nil {
		fmt.Fprintf(m.Stderr, "Error: %s\n", err)
		return 1, nil
	}
	return 0, nil
}
