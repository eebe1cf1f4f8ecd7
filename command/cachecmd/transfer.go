package cachecmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// transferOptions are what the arguments of cache push and cache pull ask for.
type transferOptions struct {
	options
	push             bool
	location         string   // where the packages go to, or come from
	paths            []string // of lock files
	createRepository string   // of -create-repository
	platforms        []getproviders.Platform
	policies         []string // of -policy
	offlineBy        string   // who set it; "": it isn't set
}

func (o *transferOptions) verb() string {
	if o.push {
		return "push"
	}
	return "pull"
}

func (o *transferOptions) parse(args []string, env cli.Environment) error {
	operands, err := o.flags().Mixed(args, env)
	if err != nil {
		return err
	}
	if len(operands) == 0 || operands[0] == "" {
		return cli.Misusedf("cache %s needs a URL such as s3://BUCKET/PREFIX, or a directory", o.verb())
	}
	if o.location, o.paths = operands[0], operands[1:]; len(o.paths) == 0 {
		o.paths = []string{"."}
	}
	if len(o.platforms) == 0 {
		o.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	return nil
}

// runPush sends packages of the cache to where other machines pull them.
func runPush(m *cli.Meta, args []string) (int, error) { return runTransfer(m, args, true) }

// runPull gets packages that were pushed.
func runPull(m *cli.Meta, args []string) (int, error) { return runTransfer(m, args, false) }

func runTransfer(m *cli.Meta, args []string, push bool) (int, error) {
	o := transferOptions{push: push}
	if err := o.parse(args, m.Env); err != nil {
		return 0, err
	}
	activity, m := o.activity(m, products.Unversioned(m))
	return o.end(m, move(m, &o, activity))
}

// move pushes or pulls; the report is nil if nothing was tried.
func move(m *cli.Meta, o *transferOptions, activity *view.Activity) result.Result {
	defer activity.Close()
	s, ok := o.open(m, activity, o.offlineBy, o.policies)
	if !ok {
		return nil
	}
	locked, _ := o.locked(m, o.paths)
	if o.offlineBy != "" && places.IsURL(o.location) {
		o.log.Fail("offline", "No request is allowed",
			"The command cache %s asks the service that the URL names, and %s forbids requests. A directory may be named in place of the URL.", o.verb(), o.offlineBy)
	}
	if scheme, _, _ := strings.Cut(o.location, "://"); o.push && strings.EqualFold(scheme, "https") { // whether there is something to send or not
		o.log.Fail("bucket", "Invalid URL",
			"Packages can only be pulled from a web server. They are pushed to what is behind it: a bucket, an OCI registry or a directory.")
	}
	if !o.push && !places.IsURL(o.location) {
		o.log.Add(checkPulled(o.location)...)
	}
	if invalid := sources.CheckCreateRepository(o.createRepository, o.location); invalid != nil {
		o.log.Add(invalid)
	}
	if o.log.All.HasErrors() {
		return nil
	}
	remote, end, invalid := s.net.OpenRemote(m, o.location, o.createRepository)
	defer end()
	if invalid != nil {
		o.log.Add(invalid)
		return nil
	}
	t := transferring{session: s, remote: remote, wanted: locked}
	result := result.CacheTransfer{Cache: s.cache, Remote: remote.String(), Push: o.push}
	for _, platform := range o.platforms {
		moved, err := t.move(m.Context, o.push, platform)
		result.Packages = append(result.Packages, moved...)
		if err != nil {
			o.log.Add(explain.TransferProblems(s.product, o.push, err)...)
		}
	}
	return result
}

// checkPulled finds a directory that can't have packages. One that is empty may be what the first push fills.
func checkPulled(dir string) problem.List {
	why := "is no directory. Name the one that packages were pushed to."
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "doesn't exist: nothing was pushed there, or the name is wrong. The first \"tfdeps cache push\" makes it."
	case err != nil || info.IsDir(): // what can't be looked at fails for each package, with the reason
		return nil
	}
	return problem.Fail("bucket", "Nothing to pull", "The directory %s %s", dir, why)
}

// transferring is one run of cache push or cache pull.
type transferring struct {
	session
	remote mirror.Remote
	wanted []getproviders.PackageSpec
}

// installer makes what finds packages in the cache and puts them there.
func (t *transferring) installer(platform getproviders.Platform) *providercache.Installer {
	f := t.net.Fetcher(t.meta, t.product, mirror.RemoteSource(t.remote, t.wanted), t.activity.Observe)
	f.Platform = platform
	// What lock files select is no downgrade.
	f.Policy = t.net.Policy.Against(nil, func(getproviders.Provider) getproviders.Version { return getproviders.Version{} })
	return &providercache.Installer{Fetcher: f, Cache: t.cache}
}

func (t *transferring) move(ctx context.Context, push bool, platform getproviders.Platform) ([]providercache.Outcome, error) {
	if push {
		return mirror.Push(ctx, t.installer(platform), t.remote, t.wanted)
	}
	return mirror.Pull(ctx, t.installer(platform))
}
