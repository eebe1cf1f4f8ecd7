package providerscmd

import (
	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// hashOptions are what the arguments of hash ask for.
type hashOptions struct{ json bool }

func (o *hashOptions) flags() cli.Flags {
	return cli.Flags{{Name: "json", Value: cli.Bool(&o.json),
		Help: "Print a JSON array with an object for each: path, h1, zh, or error and code. There is no zh for a directory."}}
}

func hashHelp() cli.Help {
	return cli.Help{Usage: []string{"hash [options] FILE.zip|DIR..."}, Flags: new(hashOptions).flags(),
		About: `  Shows the hashes that a dependency lock file has for provider packages: h1 of
  the files, and zh of an archive.`}
}

// refusedHash is what -json prints about arguments: an array, as it is about packages, with one object that is about none.
func refusedHash(err error) result.Result { return result.HashReport{{Err: argumentError{err}}} }

// argumentError is about arguments that the command doesn't take.
type argumentError struct{ error }

// Code is "invalid_option".
func (argumentError) Code() string { return "invalid_option" }

// runHash prints the hashes that a lock file has for packages.
func runHash(m *cli.Meta, args []string) (int, error) {
	var o hashOptions
	paths, _, err := parsed(o.flags(), args, nil)
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, &cli.UsageError{Text: "Error: hash needs the path of a package", Help: true}
	}
	var report result.HashReport
	var problems problem.List
	for _, path := range paths {
		h1, zh, err := fetcher.HashPackage(m.Context, path)
		if err != nil {
			problems = append(problems, problem.Because(err, problem.CodedError("invalid_package", "Failed to hash a package", problem.Sentence(err))))
		}
		report = append(report, result.PackageHashes{Path: path, H1: h1, ZH: zh, Err: err})
	}
	return m.Finish(report, problems, cli.Output{JSON: o.json, Data: true}), nil
}
