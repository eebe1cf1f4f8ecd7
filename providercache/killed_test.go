package providercache_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// dieVariable makes the test program install, and end suddenly at the place that it names, as if
// it were killed there. Its arguments are the package's archive and the target directory, and if
// given, a cache and a state directory. At "fetched" it ends when all is done, with another exit
// code if it fetched the package. At "unread" it fails if it read a package.
const (
	dieVariable = "TFDEPS_TEST_DIE_AT"
	diedAsAsked = 3
	didFetch    = 4
	didLink     = 5
)

func die(where string) {
	if where == "outside" {
		installFromWeb()
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(where, stepPrefix), 10, 64); err == nil {
		installStepwise(n)
	}
	source := &memorySource{Packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{}}
	source.Add("acme/widget", "1.0.0", getproviders.LocalArchive(os.Args[1]))
	source.Trust("acme/widget", "1.0.0", dying(where))
	source.From("acme/widget", "1.0.0", "the test")
	in := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Platform: linux, Product: product},
		Target:  &providercache.Store{Dir: os.Args[2]},
	}
	if len(os.Args) > 3 {
		in.Cache, in.Fetcher.StateDir = &providercache.Store{Dir: os.Args[3]}, os.Args[4]
	}
	end := didLink
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		begun := e.Kind == event.Fetching
		done := e.State == event.Fetched
		if begun && where == "begun" || done && where == "done" {
			os.Exit(diedAsAsked)
		}
		if begun {
			end = didFetch
		}
		if e.Kind == event.Hashing && where == "unread" {
			os.Exit(1)
		}
	}
	_, _, err := in.Install(context.Background(), widgets, nil, providercache.Normal)
	if err != nil || where != "fetched" && where != "unread" {
		os.Exit(1)
	}
	os.Exit(end)
}

// dying is a Trust that ends the program.
type dying string

func (d dying) Load(context.Context) (getproviders.Authenticator, error) { return d, nil }

func (d dying) Authenticate(getproviders.Digests) (getproviders.AuthenticationResult, error) {
	if d == "received" {
		os.Exit(diedAsAsked)
	}
	return getproviders.AuthenticationResult{}, nil
}

func TestInstall_WhatKilledProcessesLeaveIsRemovedByTheNext(t *testing.T) {
	source := widgetSource(t)
	archive := source.Packages[acmeWidget][v1].Location.String()
	for _, where := range []string{"begun", "received", "done"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			in := newInstaller(t, source)
			killed := exec.CommandContext(t.Context(), os.Args[0], archive, in.Target.Dir)
			killed.Env = append(os.Environ(), dieVariable+"="+where)
			must.Equal(t, must.As[*exec.ExitError](t, killed.Run()).ExitCode(), diedAsAsked)
			left := tree(t, in.Target.Dir)
			if stagings := stagingDirs(left); where != "begun" && stagings == 0 {
				t.Errorf("there is %q, so this test shows nothing", left)
			}
			if runtime.GOOS == "windows" { // without file locks, it can't be known that a process is gone
				in.Fetcher.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
			}
			install(t, in, widgets, nil)
			got := files(t, in.Target.Dir)
			must.Len(t, got, 1)
			must.Equal(t, filepath.Base(got[0]), "terraform-provider-widget")
		})
	}
}

func stagingDirs(names []string) (n int) {
	for _, name := range names {
		if strings.HasPrefix(name, ".tfdeps-") && !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}
