package servecmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// collectEvery is how often one of the servers of a bucket removes what is too much.
const collectEvery = time.Hour

// collectOptions say what is removed.
type collectOptions struct {
	maxSize    int64         // of all archives; 0: any
	maxUnused  time.Duration // 0: any
	keepLocked []string      // lock files, and directories in and below which they are
}

func (o *collectOptions) flags() cli.Flags {
	return cli.Flags{
		cli.Option("max-size=SIZE", cli.Parsed(&o.maxSize, size),
			"Remove archives that weren't used for the longest time, every hour, when all of them take more: 200GB, 1.5TiB. "+
				"None is removed that was used within two hours. All servers of a bucket have this option or -max-unused, or none. Without them nothing is removed."),
		cli.Option("max-unused=AGE", cli.Parsed(&o.maxUnused, cli.ParseAge), "Remove archives that weren't used for this long, whatever all of them take: 90d, 12w."),
		cli.Option("keep-locked=PATH", cli.Strings(&o.keepLocked),
			"Never remove what this lock file selects, or those in and below this directory. They are read again each time. The option can be used several times."),
	}
}

func (o collectOptions) any() bool { return o.maxSize > 0 || o.maxUnused > 0 }

// check returns an error for options that remove nothing.
func (o collectOptions) check() error {
	if !o.any() && len(o.keepLocked) > 0 {
		return cli.Usagef("-keep-locked needs -max-size or -max-unused: without them nothing is removed")
	}
	return nil
}

// size reads a size that isn't zero.
func size(text string) (int64, error) {
	n, err := cli.ParseBytes(text)
	if err == nil && n == 0 {
		err = errors.New("it has to be more than nothing")
	}
	return n, err
}

// collector removes archives that weren't used for the longest time.
type collector struct {
	collectOptions
	product getproviders.Product
	log     *slog.Logger
}

// run collects until the context ends.
func (c *collector) run(ctx context.Context, server *mirrorserver.Server) {
	for ctx.Err() == nil {
		if err := c.collect(ctx, server); err != nil && ctx.Err() == nil {
			c.log.Error("nothing is removed for now", "error", err.Error())
		}
		par.Pause(ctx, collectEvery)
	}
}

func (c *collector) collect(ctx context.Context, server *mirrorserver.Server) error {
	keep, err := c.lockedHashes()
	if err != nil { // rather too much than what a lock file selects
		return err
	}
	gone, left, err := server.Collect(ctx, mirrorserver.CollectOptions{MaxBytes: c.maxSize, MaxUnused: c.maxUnused, Keep: keep, Every: collectEvery})
	if len(gone) > 0 {
		c.log.Info("archives are removed that weren't used for the longest time", "archives", len(gone), "bytes", bytesOf(gone))
	}
	if left := bytesOf(left); err == nil && c.maxSize > 0 && left > c.maxSize {
		c.log.Warn("more is kept than -max-size says, because lock files select it or it was used lately", "bytes", left)
	}
	return err
}

func bytesOf(all []mirrorserver.StoredPackage) (sum int64) {
	for _, p := range all {
		sum += p.Bytes
	}
	return sum
}

// lockedHashes reads the lock files, and returns what tells whether one of them selects an archive.
func (c *collector) lockedHashes() (func(getproviders.Provider, getproviders.Version, []getproviders.Hash) bool, error) {
	selected := map[getproviders.Hash]bool{}
	for _, path := range c.keepLocked {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || file != path && entry.Name() != ".terraform.lock.hcl" {
				return err
			}
			locks, problems := depsfile.Load(file, c.product)
			if problems.HasErrors() {
				return fmt.Errorf("%s can't be read: %s", file, problems.Error())
			}
			for _, lock := range locks.All() {
				for _, h := range lock.Hashes {
					selected[h] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return func(_ getproviders.Provider, _ getproviders.Version, hashes []getproviders.Hash) bool {
		return slices.ContainsFunc(hashes, func(h getproviders.Hash) bool { return selected[h] })
	}, nil
}

// gcOptions are what the arguments of serve gc ask for.
type gcOptions struct {
	collectOptions
	dryRun bool
}

func (o *gcOptions) flags() cli.Flags {
	return append(cli.Flags{cli.Switch("dry-run", &o.dryRun, "Only say what would go.")}, o.collectOptions.flags()...)
}

// runGC removes once what servers with the same options would.
func runGC(m *cli.Meta, args []string) (int, error) {
	var o gcOptions
	given, err := o.flags().Parse(args)
	if err != nil {
		return 0, err
	}
	if len(given.Operands) != 1 || !o.any() {
		return 0, cli.Misusedf("serve gc needs -max-size or -max-unused, and one directory or URL of a bucket")
	}
	product := products.Unversioned(m)
	c := &collector{collectOptions: o.collectOptions, product: product}
	keep, err := c.lockedHashes()
	if err != nil {
		return m.Finish(nil, problem.List{failure(err)}, cli.Output{Data: true, Code: 1}), nil
	}
	_, stores, problems := sources.Online(m, product, "")
	if problems.HasErrors() {
		return m.Finish(nil, problems, cli.Output{Data: true, Code: 1}), nil
	}
	bucket, failed := openBucket(m, stores, given.Operands[0])
	if failed != nil {
		return m.Finish(nil, append(problems, failed), cli.Output{Data: true, Code: 1}), nil
	}
	defer bucket.Close()
	server, err := mirrorserver.Handler(&providercache.Fetcher{Now: m.Now}, bucket, mirrorserver.Options{})
	if err == nil {
		defer server.Close()
		var gone, left []mirrorserver.StoredPackage
		gone, left, err = server.Collect(m.Context, mirrorserver.CollectOptions{MaxBytes: o.maxSize, MaxUnused: o.maxUnused, Keep: keep, DryRun: o.dryRun})
		did := map[bool]string{true: "would remove", false: "removed"}[o.dryRun]
		for _, p := range gone {
			fmt.Fprintf(m.Stdout, "%s %s %s %s: %d bytes, used last on %s\n", did, p.Provider, p.Version, p.Platform, p.Bytes, p.Used.UTC().Format(time.DateOnly))
		}
		if all := slices.Concat(gone, left); !slices.ContainsFunc(all, func(p mirrorserver.StoredPackage) bool { return p.Used.After(p.Stored) }) && len(all) > 0 {
			problems = append(problems, problem.Warning("No use of an archive is noted there", "Servers note uses if they have -max-size or -max-unused. Without notes, the time since an archive was stored counts."))
		}
		fmt.Fprintf(m.Stdout, "%s %d of %d archives, %d of %d bytes\n", did, len(gone), len(gone)+len(left), bytesOf(gone), bytesOf(gone)+bytesOf(left))
	}
	code := 0
	if err != nil {
		code, problems = 1, append(problems, failure(err))
	}
	return m.Finish(nil, problems, cli.Output{Data: true, Code: code}), nil
}
