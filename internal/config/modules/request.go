package modules

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Fetcher fetches packages. Package fetch has one for all addresses that Terraform knows; programs
// may bring their own.
type Fetcher interface {
	// Fetch creates the directory dst, whose parent exists, with the content of a package, or says where the content is if it may
	// stay there: see [FetchRequest.InPlace]. Many goroutines call it concurrently, several times for one package, which it
	// should download once.
	Fetch(ctx context.Context, req FetchRequest, dst string) (Fetched, error)
}

// FetchRequest is the package to fetch.
type FetchRequest struct {
	Package string // the address without a subdirectory: [Remote.Package]
	// Pin names an immutable package, such as "registry.example.com/acme/net/cloud 1.2.0": a cached
	// package with the same pin and address may be used. "" means that the package may have
	// changed.
	Pin string
	// Commit is the full ID of the git commit in a lock file; "" if unknown. It is used only if the
	// repository can't be asked what the address means now.
	Commit string
	// Own says that the address is from the user's own configuration: only then is a profile in it used, and only then are the
	// user's credentials for s3 sent to any server that it names.
	Own    bool
	Served Served
	// InPlace asks for the package to be read only, as long as the Fetcher is open: all calls share one directory, which
	// [Fetched] names, and nothing is made at dst.
	InPlace bool
	// Beside has the concurrent requests, including this one, so that the data that several need
	// can be requested together; nil if unknown. It doesn't change the result.
	Beside *Requests
}

// StepError is an error in a step of fetching a package.
type StepError struct {
	Step    string // a verb before the package's address, such as "unpacking"
	Package string // the address without logins and query values, except "?ref=" and the like
	Err     error
}

// Error implements error. It adds the package's address unless the text of Err contains it, as that of a failed request does.
func (e *StepError) Error() string {
	if brief := e.Brief(); strings.Contains(brief, e.Package) {
		return brief
	}
	return fmt.Sprintf("%s %s: %v", e.Step, e.Package, e.reason())
}

// Brief returns the error for a message that names the package already.
func (e *StepError) Brief() string { return fmt.Sprintf("%s: %v", e.Step, e.reason()) }

// reason returns the cause, without a repository's address that is part of the package's.
func (e *StepError) reason() error {
	repository, ok := e.Err.(*getproviders.Fault)
	if !ok || repository.Source == "" || !strings.Contains(e.Package, repository.Source) {
		return e.Err
	}
	return errors.Unwrap(repository.Err)
}

// Unwrap returns Err.
func (e *StepError) Unwrap() error { return e.Err }

// Requests are the requests that are fetched concurrently, see [FetchRequest].
type Requests struct{ All []FetchRequest }

// Fetched has details of a fetched package.
type Fetched struct {
	Commit string // of a git repository, in full; "" for others
	Dir    string // of a package that stays where the Fetcher has it: absolute, without symlinks; else ""
}

// packageSource is where a module's package is fetched from.
type packageSource struct {
	remote Remote // the module's subdirectory
	pin    string // see [FetchRequest]
	own    bool   // see [FetchRequest]

	registry Registry // the registry's module; zero if it isn't from a registry
	version  string   // the registry module's
	unasked  bool     // see [Choice]
	commit   string   // see [FetchRequest]
	beside   *Requests
	inPlace  bool // see [FetchRequest]
}

func (o packageSource) request() FetchRequest {
	return FetchRequest{Package: o.remote.Package, Pin: o.pin, Commit: o.commit, Own: o.own, Beside: o.beside, Served: o.remote.Served, InPlace: o.inPlace}
}

// Event is something that happened while a tree was resolved: a [Downloading], a [Planned] or a
// [Recorded].
type Event any

// Downloading is sent before a module's package is fetched.
type Downloading struct {
	Key     string
	Package string // the address, without secrets
	Version string // of a registry's module; "" for others
}

// Planned replaces Downloading with [Resolver.DryRun].
type Planned struct {
	Downloading
	Code OutdatedCode // why it would be fetched
	Was  string       // the recorded version; "" if none
	// Certain says that the module's calls and requirements are known: the same version is installed.
	Certain bool
}

// Recorded is sent when a module is installed and its record is new or changed.
type Recorded struct{ Record }

// Outdated is the Extra of a problem about a module that isn't installed as its call requires, if
// nothing may be installed ([AsRecorded]). It lets programs tell such a problem from an error in
// the configuration.
type Outdated struct {
	Key  string // of the call, as in modules.json
	Code OutdatedCode
}

// OutdatedCode says what is wrong with a record. The values don't change.
type OutdatedCode string

const (
	Absent         OutdatedCode = "module_absent"          // it isn't recorded, or the recorded directory doesn't exist
	SourceChanged  OutdatedCode = "module_source_changed"  // the call has another source
	VersionChanged OutdatedCode = "module_version_changed" // the constraint doesn't allow the version
	Upgraded       OutdatedCode = "module_upgrade"         // nothing is wrong, but [Upgrade] fetches it again
)
