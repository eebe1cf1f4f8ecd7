package providercache_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// TestInstall_CancelAtEveryEvent ends the context at the first event, then at the second, and so
// on, until an installation succeeds.
func TestInstall_CancelAtEveryEvent(t *testing.T) {
	t.Parallel()
	_, in := newRegistry(t, "a", "b", "c")
	req := require(registryHost+"/acme/a", "", registryHost+"/acme/b", "", registryHost+"/acme/c", "")
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		run := newInstaller(t, in.Fetcher.Source)
		run.Fetcher.Client = in.Fetcher.Client
		run.Fetcher.Observe = func(_ context.Context, _ event.Event) {
			if seen++; seen == n {
				cancel()
			}
		}
		locks, report, err := run.Install(ctx, req, nil, providercache.Normal)
		cancel()
		if seen < n {
			if err != nil || n < 10 {
				t.Errorf("%d events, and %v", seen, err)
			}
			return
		}
		checkCancelled(t, run, fmt.Sprintf("event %d", n), locks != nil, report, err)
	}
}

// checkCancelled checks what a cancelled installation left. It may have been finished before.
func checkCancelled(t *testing.T, in *providercache.Installer, when string, locked bool, report providercache.Report, err error) {
	t.Helper()
	if locked == (err != nil) {
		t.Errorf("%s: locks %v, error %v", when, locked, err)
	}
	if err != nil {
		for _, failure := range providerErrors(t, err) {
			must.Equal(t, failure.Step, during.Cancel)
			must.Fail(t, failure, context.Canceled)
		}
	}
	whole := 0
	for _, o := range report.Outcomes {
		if o.Err == nil && o.State != event.NotTried {
			whole++
		}
	}
	left := files(t, filepath.Dir(filepath.Dir(in.Target.Dir)))
	for _, name := range left {
		must.Contain(t, name, "/terraform-provider-")
	}
	must.Equal(t, len(left), whole)
	if whole == 0 {
		nothingLeft(t, in)
	}
}

// TestInstall_CancelWhileAServerIsSilent: nothing but the context ends the wait.
func TestInstall_CancelWhileAServerIsSilent(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"discovery", "versions", "package", "sums", "signature", "archive"} {
		for _, bytes := range []int64{0, 10} {
			t.Run(fmt.Sprintf("%s after %d bytes", kind, bytes), func(t *testing.T) {
				t.Parallel()
				registry, in := newRegistry(t, "widget")
				registry.Break(kind, fault{Stall: true, CutAfter: bytes})
				address := registryHost + "/acme/widget"
				if kind == "discovery" {
					address = registry.Host() + "/acme/widget"
				}
				reason := errors.New("interrupted by the user")
				ctx, cancel := context.WithCancelCause(t.Context())
				go func() {
					for registry.Requests(kind) == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					cancel(reason)
				}()
				locks, report, err := in.Install(ctx, require(address, ""), nil, providercache.Normal)
				cancel(nil)
				must.Fail(t, err, reason)
				checkCancelled(t, in, kind, locks != nil, report, err)
			})
		}
	}
}

// TestInstall_CancelBetweenTheSteps ends the context in the middle of the work on a package, where
// there is no event.
func TestInstall_CancelBetweenTheSteps(t *testing.T) {
	t.Parallel()
	for name, location := range map[string]func(*memorySource) getproviders.Location{
		"archive": func(s *memorySource) getproviders.Location {
			s.AddZip(t, "acme/widget", "1.0.0")
			return s.Packages[acmeWidget][v1].Location
		},
		"directory": func(s *memorySource) getproviders.Location {
			write(t, filepath.Join(s.Dir, "unpacked", "terraform-provider-widget"), "x")
			return getproviders.LocalDirectory(filepath.Join(s.Dir, "unpacked"))
		},
	} {
		for _, where := range []string{"load", "authenticate"} {
			t.Run(name+" "+where, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				source := newSource(t)
				source.Add("acme/widget", "1.0.0", location(source))
				source.Trust("acme/widget", "1.0.0", cancelling{cancel, where})
				in := newInstaller(t, source)
				locks, report, err := in.Install(ctx, widgets, nil, providercache.Normal)
				must.Refuse(err)(t, "it was not cancelled")
				checkCancelled(t, in, where, locks != nil, report, err)
			})
		}
	}
}

// cancelling is a Trust that lets everything pass, and ends a context.
type cancelling struct {
	cancel context.CancelFunc
	where  string
}

func (c cancelling) Load(context.Context) (getproviders.Authenticator, error) {
	if c.where == "load" {
		c.cancel()
	}
	return c, nil
}

func (c cancelling) Authenticate(getproviders.Digests) (getproviders.AuthenticationResult, error) {
	c.cancel()
	return getproviders.AuthenticationResult{}, nil
}

func TestInstall_CancelBeforeTheBeginning(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	req := require("acme/widget", "")
	lock := providercache.LockRequest{Requirements: req}
	for name, err := range map[string]error{
		"Install": must.ErrorOf(in.Install(ctx, req, nil, providercache.Normal)), "Plan": must.ErrorOf(in.Plan(ctx, req, nil, providercache.Normal)),
		"Check": must.ErrorOf(in.Check(ctx, req, nil)), "Ensure": must.ErrorOf(in.Ensure(ctx, acmeWidget, constraints(""))),
		"Hashes": must.ErrorOf(in.Fetcher.Hashes(ctx, acmeWidget, v1, onLinux)), "Lock": must.ErrorOf(in.Fetcher.Lock(ctx, lock)), "Locate": must.ErrorOf(in.Fetcher.Locate(ctx, lock)),
	} {
		must.Fail(t, err, context.DeadlineExceeded, name)
	}
	nothingLeft(t, in)
}
