package servecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// collectEvery is how often one of the servers of a bucket removes archives above the limits.
const collectEvery = time.Hour

// collectOptions say which archives are removed.
type collectOptions struct {
	mirrorserver.CollectOptions
	keepLocked []string // lock files, and directories that have some in or below them
}

func (o *collectOptions) flags() cli.Flags {
	return cli.Flags{
		cli.Option("max-size=SIZE", cli.Parsed(&o.MaxBytes, size),
			"Remove the least recently used archives when all together take more: 200GB, 1.5TiB", ""+
				"None is removed that was used within two hours. Servers do it every hour: all of a bucket need this option or -max-unused, or none. Without them nothing is removed."),
		cli.Option("max-unused=AGE", cli.Parsed(&o.MaxUnused, cli.ParseAge), "Remove archives that weren't used for this long, whatever their total size: 90d, 12w"),
		cli.Option("keep-locked=PATH", cli.Strings(&o.keepLocked),
			"Never remove what this lock file selects, or those in and below this directory", "Lock files are read each time. May be given more than once."),
	}
}

func (o collectOptions) any() bool { return o.MaxBytes > 0 || o.MaxUnused > 0 }

// size reads a size that isn't zero.
func size(text string) (int64, error) {
	n, err := cli.ParseBytes(text)
	if err == nil && n == 0 {
		err = errors.New("it has to be above 0")
	}
	return n, err
}

// run removes archives above the limits, again and again until the context ends.
func (o collectOptions) run(ctx context.Context, product getproviders.Product, server *mirrorserver.Server, log *slog.Logger) {
	for ctx.Err() == nil {
		if err := o.collect(ctx, product, server, log); err != nil && ctx.Err() == nil {
			log.Error("nothing is removed for now", "error", err.Error())
		}
		par.Pause(ctx, collectEvery)
	}
}

func (o collectOptions) collect(ctx context.Context, product getproviders.Product, server *mirrorserver.Server, log *slog.Logger) (err error) {
	o.Every = collectEvery
	var problems problem.List
	if o.Keep, problems = o.lockedHashes(product); problems.HasErrors() { // removes nothing, because a lock file may select it
		return errors.New(strings.TrimPrefix(problems.Error(), "<nil>: ")) // hcl's text of a problem without a place in a file
	}
	gone, left, err := server.Collect(ctx, o.CollectOptions)
	if len(gone) > 0 {
		log.Info("the least recently used archives are removed", "archives", len(gone), "bytes", bytesOf(gone))
	}
	if left := bytesOf(left); err == nil && o.MaxBytes > 0 && left > o.MaxBytes {
		log.Warn("the archives take more than -max-size, because lock files select them or they were used lately", "bytes", left)
	}
	return err
}

func bytesOf(all []mirrorserver.StoredPackage) (sum int64) {
	for _, p := range all {
		sum += p.Bytes
	}
	return sum
}

// lockedHashes reads the lock files, and returns a function that reports whether one of them selects an archive.
func (o collectOptions) lockedHashes(product getproviders.Product) (func(getproviders.Provider, getproviders.Version, []getproviders.Hash) bool, problem.List) {
	locked, problems := workdir.LockedBelow(o.keepLocked, product)
	selected := map[getproviders.Hash]bool{}
	for _, p := range locked {
		for _, h := range p.Hashes {
			selected[h] = true
		}
	}
	return func(_ getproviders.Provider, _ getproviders.Version, hashes []getproviders.Hash) bool {
		return slices.ContainsFunc(hashes, func(h getproviders.Hash) bool { return selected[h] })
	}, problems
}

// gcFlags returns the flags of serve gc.
func (o *collectOptions) gcFlags() cli.Flags {
	return append(cli.Flags{cli.Switch("dry-run", &o.DryRun, "Only list what would be removed")}, o.flags()...)
}

// runGC removes once the archives that servers with the same options would remove.
func runGC(m *cli.Meta, args []string) (int, error) {
	var o collectOptions
	given, err := o.gcFlags().Parse(args)
	if err != nil {
		return 0, err
	}
	if len(given.Operands) != 1 || !o.any() {
		return 0, cli.Misusedf("serve gc needs -max-size or -max-unused, and one directory or URL of a bucket")
	}
	return m.Finish(nil, o.gc(m, given.Operands[0]), cli.Output{Data: true}), nil
}

func (o collectOptions) gc(m *cli.Meta, place string) (problems problem.List) {
	product := products.Unversioned(m)
	if _, err := os.Stat(place); err != nil && !places.IsURL(place) { // openBucket would make it
		return problem.Fail("bucket", "Nothing to remove", "The directory %s can't be read: %v. Name the one in which the server keeps its packages.", place, wrapped.Reason(err))
	}
	if o.Keep, problems = o.lockedHashes(product); problems.HasErrors() {
		return problems
	}
	_, stores, more := sources.Online(m, product, "")
	if problems = append(problems, more...); problems.HasErrors() {
		return problems
	}
	bucket, failed := openBucket(m, stores, place)
	if failed != nil {
		return append(problems, failed)
	}
	defer bucket.Close()
	server, err := mirrorserver.Handler(&providercache.Fetcher{Now: m.Now}, bucket, mirrorserver.Options{})
	if err != nil {
		return append(problems, failure(m, err))
	}
	defer server.Close()
	gone, left, err := server.Collect(m.Context, o.CollectOptions)
	did := "removed"
	if o.DryRun {
		did = "would remove"
	}
	for _, p := range gone {
		fmt.Fprintf(m.Stdout, "%s %s %s %s: %s, used last on %s\n", did, p.Provider, p.Version, p.Platform, terminal.Megabytes(p.Bytes), p.Used.UTC().Format(time.DateOnly))
	}
	all := slices.Concat(gone, left)
	if !slices.ContainsFunc(all, func(p mirrorserver.StoredPackage) bool { return p.Used.After(p.Stored) }) && len(all) > 0 {
		problems = append(problems, problem.Warning("No uses of archives are recorded there", "Servers record uses if they have -max-size or -max-unused. Without records, the time since an archive was stored counts."))
	}
	fmt.Fprintf(m.Stdout, "%s %d of %d archives, %s of %s; those stored or used within two hours stay\n", did, len(gone), len(all), terminal.Megabytes(bytesOf(gone)), terminal.Megabytes(bytesOf(all)))
	if err != nil {
		problems = append(problems, failure(m, err))
	}
	return problems
}
