package cachecmd

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// transferOptions are the parsed arguments of cache push and cache pull.
type transferOptions struct {
	options
	push             bool
	createRepository string // of -create-repository
}

// pushOptions are the parsed arguments of cache push.
type pushOptions struct{ transferOptions }

func (o *pushOptions) Flags() cli.Flags {
	o.push = true
	return o.transferOptions.Flags()
}

func (o *transferOptions) verb() string {
	if o.push {
		return "push"
	}
	return "pull"
}

// Report pushes packages of the cache, or pulls packages that were pushed; the report is nil after an error before
// that.
func (o *transferOptions) Report() (*result.Result, error) {
	if len(o.Operands) == 0 || o.Operands[0] == "" {
		return nil, cli.Misusedf("cache %s needs a URL such as s3://BUCKET/PREFIX, or a directory", o.verb())
	}
	location, paths := o.Operands[0], o.Operands[1:]
	if len(paths) == 0 {
		paths = []string{"."}
	}
	o.show()
	defer o.activity.Close()
	if !o.open() {
		return nil, nil
	}
	wanted, _ := o.locked(paths)
	if o.check(location); !o.Log.Add() {
		return nil, nil
	}
	remote, ok := o.OpenRemote(location, o.createRepository)
	if !ok {
		return nil, nil
	}
	var all []providercache.Outcome
	for _, platform := range o.platforms {
		o.activity.Platform(platform)
		moved, err := o.move(remote, wanted, platform)
		all = append(all, moved...)
		if err != nil {
			o.Log.Add(o.TransferProblems(o.push, err)...)
		}
	}
	return result.CacheTransfer(o.Called, o.cache, remote.String(), o.push, all), nil
}

// check finds locations to which packages can't be pushed, or from which they can't be pulled.
func (o *transferOptions) check(location string) {
	if o.offlineBy != "" && places.IsURL(location) {
		o.Log.Fail("offline", "No request is allowed",
			"The command cache %s asks the service that the URL names, and %s forbids requests. A directory may be named in place of the URL.", o.verb(), o.offlineBy)
	}
	if scheme, _, _ := strings.Cut(location, "://"); o.push && strings.EqualFold(scheme, "https") { // an error even if there is nothing to send
		o.Log.Fail("bucket", "Invalid URL",
			"Packages can only be pulled from a web server. They are pushed to what is behind it: a bucket, an OCI registry or a directory.")
	}
	if !o.push && !places.IsURL(location) {
		o.Log.Add(o.checkPulled(location)...)
	}
	sources.CheckCreateRepository(o.Meta, o.Log, o.createRepository, location)
}

// checkPulled finds a directory that can't have packages. An empty one is no error, because the first push may fill it.
func (o *transferOptions) checkPulled(dir string) problem.List {
	why := "is not a directory. Name the one that packages were pushed to."
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "doesn't exist: nothing was pushed there, or the name is wrong. The first \"" + o.Called + " cache push\" makes it."
	case err != nil || info.IsDir(): // other errors are reported for each package
		return nil
	}
	return problem.Fail("bucket", "Nothing to pull", "The directory %s %s", dir, why)
}

// move pushes or pulls the packages of one platform.
func (o *transferOptions) move(remote mirror.Remote, wanted []getproviders.PackageSpec, platform getproviders.Platform) ([]providercache.Outcome, error) {
	f := o.Fetcher(o.activity.Observe)
	f.Source, f.Platform, f.Choice = mirror.RemoteSource(remote, wanted), platform, providercache.Choice{}
	// Locked versions are no downgrades.
	f.Policy = o.Policy.Against(nil, nil)
	installer := &providercache.Installer{Fetcher: f, Cache: o.cache}
	if o.push {
		return mirror.Push(o.Meta.Context, installer, remote, wanted)
	}
	return mirror.Pull(o.Meta.Context, installer)
}
