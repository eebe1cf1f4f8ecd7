package mirror_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// machine is a machine with a cache of its own.
type machine struct {
	*providercache.Installer
	tb testing.TB
}

func newMachine(t *testing.T) machine {
	t.Helper()
	return machine{&providercache.Installer{
		Fetcher: &providercache.Fetcher{Platform: linux, Product: product, StateDir: t.TempDir()},
		Cache:   &store.Store{Dir: filepath.Join(t.TempDir(), "cache")},
	}, t}
}

// add puts a package into the cache, and returns what a lock file says of it.
func (m machine) add(name string, files map[string]string) getproviders.PackageSpec {
	m.tb.Helper()
	w := getproviders.PackageSpec{Provider: provider("acme/" + name), Version: version("1.0.0")}
	dir := m.Cache.PackagePath(w.Provider, w.Version, linux)
	for file, content := range files {
		path := filepath.Join(dir, file)
		must.Write(m.tb, path, content)
		if strings.HasPrefix(file, "terraform-provider-") {
			succeed(m.tb, os.Chmod(path, 0o755))
		}
	}
	h1 := must.Get(treehash.Dir(m.tb.Context(), dir))(m.tb)
	w.Hashes = []getproviders.Hash{h1, "zh:" + getproviders.Hash(strings.Repeat("0", 64))}
	return w
}

func (m machine) push(to remote.Remote, wanted ...getproviders.PackageSpec) ([]event.Outcome, error) {
	return mirror.Push(m.tb.Context(), m.Installer, to, wanted)
}

func (m machine) pull(remote remote.Remote, wanted ...getproviders.PackageSpec) ([]event.Outcome, error) {
	m.tb.Helper()
	m.Fetcher.Source = mirror.RemoteSource(remote, wanted)
	return mirror.Pull(m.tb.Context(), m.Installer)
}

// packages are the files of the cache that belong to packages, with their modes.
func (m machine) packages() (all []string) {
	m.tb.Helper()
	err := filepath.WalkDir(m.Cache.Dir, func(path string, entry os.DirEntry, err error) error {
		name, _ := filepath.Rel(m.Cache.Dir, path)
		if err != nil || entry.IsDir() || strings.HasPrefix(name, ".") {
			return err
		}
		info, err := entry.Info()
		all = append(all, fmt.Sprint(filepath.ToSlash(name), " ", info.Mode().Perm(), " ", info.Size()))
		return err
	})
	if !errors.Is(err, os.ErrNotExist) {
		succeed(m.tb, err)
	}
	return all
}

// counted is a bucket that counts operations.
type counted struct {
	installtest.Hooked
	mu  sync.Mutex
	ops []string
}

func newCounted(t *testing.T) *counted {
	c := &counted{Hooked: installtest.Hooked{Bucket: blob.NewDirectory(t.TempDir())}}
	c.Before = func(_ context.Context, call installtest.Call) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if call.Op == "get" {
			call.Op = fmt.Sprintf("get@%d", call.Offset)
		}
		if c.ops = append(c.ops, call.Op); call.Op == "put" && (call.Put.ContentType != "application/zip" || !strings.Contains(call.Put.CacheControl, "immutable")) {
			return fmt.Errorf("the options are %+v", call.Put)
		}
		return nil
	}
	return c
}

// since returns the operations since its last call, sorted.
func (c *counted) since() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.ops)
	all := strings.Join(c.ops, " ")
	c.ops = nil
	return all
}

// objects returns the keys of a bucket with the checksums of their objects.
func objects(t *testing.T, b blob.Bucket) (all []string) {
	t.Helper()
	for info, err := range b.List(t.Context(), "") {
		succeed(t, err)
		content, _, err := blob.ReadAll(t.Context(), b, info.Key, 1<<30)
		succeed(t, err)
		all = append(all, fmt.Sprintf("%s %x", info.Key, sha256.Sum256(content)))
	}
	slices.Sort(all)
	return all
}

func small(name string) map[string]string {
	return map[string]string{"terraform-provider-" + name: "program " + name, "docs/LICENSE.txt": "do what you like", "docs/a/b": strings.Repeat(name, 70_000)}
}

func TestPush_SendsWhatIsMissingAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, unconditional := range map[string]bool{"conditions": false, "no conditions": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, bucket := newMachine(t), newCounted(t)
			puts := "put"
			if unconditional { // what is refused is tried again, without a condition
				count := bucket.Before
				bucket.Before = func(ctx context.Context, c installtest.Call) error {
					return errors.Join(count(ctx, c), installtest.Unconditional(ctx, c))
				}
				puts = "put put"
			}
			wanted := []getproviders.PackageSpec{from.add("a", small("a")), from.add("b", small("b"))}
			remote := mirror.InBucket(bucket)
			pushed, err := mirror.Push(t.Context(), from.Installer, remote, wanted[:1])
			if err != nil || pushed[0].State != event.Sent || pushed[0].Bytes == 0 || pushed[0].H1 != wanted[0].Hashes[0] {
				t.Fatalf("%+v, %v", pushed, err)
			}
			bucket.since()
			pushed, err = mirror.Push(t.Context(), from.Installer, remote, wanted)
			if got := bucket.since(); err != nil || pushed[0].State != event.Present || pushed[1].State != event.Sent || got != puts+" stat stat" {
				t.Fatalf("%+v, %v; asked: %s", pushed, err, got)
			}
			to := newMachine(t)
			pulled, err := to.pull(remote, wanted...)
			if got := bucket.since(); err != nil || pulled[0].State != event.Pulled || pulled[0].Bytes == 0 || got != "get@0 get@0" {
				t.Fatalf("%+v, %v; asked: %s", pulled, err, got)
			}
			must.EqualSlices(t, to.packages(), from.packages())
			if pulled, err = to.pull(remote, wanted...); err != nil || pulled[0].State != event.Present || bucket.since() != "" {
				t.Errorf("once more: %+v, %v", pulled, err)
			}
			again := blob.NewDirectory(t.TempDir()) // what was pulled makes the same archives
			must.Get(mirror.Push(t.Context(), to.Installer, mirror.InBucket(again), wanted))(t)
			must.EqualSlices(t, objects(t, again), objects(t, bucket.Bucket))
			must.Len(t, objects(t, again), 2)
		})
	}
}

func TestPush_LeavesOutWhatCouldNotBeVerified(t *testing.T) {
	t.Parallel()
	m, bucket := newMachine(t), blob.NewDirectory(t.TempDir())
	onlyZH, other, missing := m.add("a", small("a")), m.add("b", small("b")), m.add("c", small("c"))
	onlyZH.Hashes = onlyZH.Hashes[1:]
	other.Hashes[0] = missing.Hashes[0]
	missing.Version = version("2.0.0")
	pushed := must.Get(m.push(mirror.InBucket(bucket), onlyZH, other, missing))(t)
	for i, want := range []event.State{event.NotRecorded, event.NotCached, event.NotCached} {
		must.Equal(t, pushed[i].State, want)
		must.Equal(t, pushed[i].Path, "")
	}
	must.Len(t, objects(t, bucket), 0)
	pulled, err := newMachine(t).pull(mirror.InBucket(bucket), onlyZH, missing)
	if err != nil || len(pulled) != 2 || pulled[0].State != event.NotRecorded || pulled[1].State != event.Absent {
		t.Fatalf("%+v, %v", pulled, err)
	}
	source := mirror.RemoteSource(mirror.InBucket(bucket), []getproviders.PackageSpec{onlyZH})
	for _, v := range []getproviders.Version{onlyZH.Version, missing.Version} {
		err := must.ErrorOf(source.Package(t.Context(), onlyZH.Provider, v, linux))
		must.Fail(t, err, remote.ErrAbsent)
		must.Fail(t, err, getproviders.ErrNotFound)
	}
}

// TestPush_SendsNoPackageThatChanged has a receipt say what the package was.
func TestPush_SendsNoPackageThatChanged(t *testing.T) {
	t.Parallel()
	m, bucket := newMachine(t), newCounted(t)
	w := m.add("a", small("a"))
	remote := changing{mirror.InBucket(bucket), func() {
		succeed(t, os.WriteFile(filepath.Join(m.Cache.PackagePath(w.Provider, w.Version, linux), "more"), []byte("x"), 0o644))
	}}
	pushed, err := m.push(remote, w)
	must.Equal(t, pushed[0].State, event.Failed)
	must.Equal(t, pushed[0].Path, "")
	must.Contain(t, err, "it is being changed")
	must.Equal(t, bucket.since(), "stat")
}

// changing is a remote that calls then after each Exists.
type changing struct {
	remote.Remote
	then func()
}

func (c changing) At(n remote.Name) (remote.Archive, error) {
	at, err := c.Remote.At(n)
	return changingArchive{at, c.then}, err
}

type changingArchive struct {
	remote.Archive
	then func()
}

func (c changingArchive) Exists(ctx context.Context) (bool, error) {
	defer c.then()
	return c.Archive.Exists(ctx)
}

// tagged is a remote in which packages have tags, and no keys.
type tagged struct{ remote.Remote }

func (r tagged) At(n remote.Name) (remote.Archive, error) {
	tag, err := n.Tag()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(tag))
	return r.Remote.At(remote.Name{Provider: provider("acme/all"), Version: version("1.0.0"), Platform: linux,
		H1: "h1:" + getproviders.Hash(base64.StdEncoding.EncodeToString(sum[:]))})
}

// TestPull_TakesNoPackageOfAnotherPlatform pulls for a platform without pushed
// packages, with a lock file that has the h1 of another platform's package: that
// package would be authentic, but no program for this machine.
func TestPull_TakesNoPackageOfAnotherPlatform(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]remote.Remote{
		"by keys": mirror.InBucket(blob.NewDirectory(t.TempDir())), "by tags": tagged{mirror.InBucket(blob.NewDirectory(t.TempDir()))},
	} {
		from := newMachine(t)
		w := from.add("a", small("a"))
		must.Get(from.push(remote, w))(t)
		several := w
		several.Hashes = append([]getproviders.Hash{installtest.WrongH1}, w.Hashes...)
		for _, wanted := range []getproviders.PackageSpec{w, several} {
			to := newMachine(t)
			to.Fetcher.Platform = getproviders.Platform{OS: "darwin", Arch: "arm64"}
			must.Equal(t, must.Get(to.pull(remote, wanted))(t, name)[0].State, event.Absent, name)
			must.Len(t, to.packages(), 0, name)
			must.Equal(t, must.Get(newMachine(t).pull(remote, wanted))(t)[0].State, event.Pulled, name)
		}
	}
}

func TestSource_AsksWhichOfSeveralHashesIsForThePlatform(t *testing.T) {
	t.Parallel()
	from, bucket := newMachine(t), newCounted(t)
	w := from.add("a", small("a"))
	w.Hashes = append([]getproviders.Hash{installtest.WrongH1}, w.Hashes...)
	remote := mirror.InBucket(bucket)
	must.Get(from.push(remote, w))(t)
	bucket.since()
	to := newMachine(t)
	must.Get(to.pull(remote, w))(t)
	must.Equal(t, bucket.since(), "get@0 stat stat")
	source := to.Fetcher.Source
	must.Len(t, must.Get(source.Versions(t.Context(), w.Provider))(t).Versions, 1)
	must.Fail(t, must.ErrorOf(source.Versions(t.Context(), provider("acme/b"))), getproviders.ErrProviderNotFound)
}

func TestSource_SaysWhoseBucketItIs(t *testing.T) {
	t.Parallel()
	w := newMachine(t).add("a", small("a"))
	source := mirror.RemoteSource(mirror.InBucket(&elsewhere{newNamed(t.TempDir())}), []getproviders.PackageSpec{w})
	pkg, err := source.Package(t.Context(), w.Provider, w.Version, getproviders.CurrentPlatform())
	if want := "s3://bucket/mirror/tfdeps-1?endpoint=https://evil.example"; err != nil || pkg.SourceURL != want {
		t.Errorf("%s, %v; want %s", pkg.SourceURL, err, want)
	}
}

// TestSource_RefusesWhatIsNotThePackage puts other bytes into the place of an archive. Nothing gets
// into the cache, and the error names where they are.
func TestSource_RefusesWhatIsNotThePackage(t *testing.T) {
	t.Parallel()
	from := newMachine(t)
	w, other := from.add("a", small("a")), from.add("b", small("b"))
	good := blob.NewDirectory(t.TempDir())
	pushed := must.Get(from.push(mirror.InBucket(good), w, other))(t)
	key := func(i int) string { return strings.TrimPrefix(pushed[i].Path, good.String()+"/") }
	whole, _, err := blob.ReadAll(t.Context(), good, key(0), 1<<20)
	succeed(t, err)
	another, _, err := blob.ReadAll(t.Context(), good, key(1), 1<<20)
	succeed(t, err)
	for name, content := range map[string][]byte{
		"another package": another, "the package of another name": providertest.Zip(map[string]string{"terraform-provider-a": "program b"}), "cut": whole[:len(whole)/2], "empty": {}, "garbage": bytes.Repeat([]byte("x"), 5000),
		"out of the directory": providertest.Zip(map[string]string{"../terraform-provider-a": "x"}), "more behind it": append(slices.Clone(whole), 'x'),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hostile := blob.NewDirectory(t.TempDir())
			must.Get(hostile.Put(t.Context(), key(0), blob.Bytes(content), blob.PutOptions{}))(t)
			to := newMachine(t)
			pulled, err := to.pull(mirror.InBucket(hostile), w)
			must.Equal(t, pulled[0].State, event.Failed)
			must.Contain(t, err, hostile.String()+"/"+key(0))
			if strings.HasPrefix(name, "another") && getproviders.CodeOf(err) == "" || name == "the package of another name" && !errors.Is(err, getproviders.ErrAuthentication) {
				t.Errorf("%v", err)
			}
			must.Len(t, to.packages(), 0)
		})
	}
}

func TestSource_GoesOnWhereADownloadBrokeOff(t *testing.T) {
	t.Parallel()
	from, bucket := newMachine(t), newCounted(t)
	w := from.add("a", small("a"))
	must.Get(from.push(mirror.InBucket(bucket), w))(t)
	bucket.since()
	once := sync.Once{}
	bucket.After = func(_ installtest.Call, o *blob.Object) {
		once.Do(func() { installtest.Cut(o, 100, io.ErrUnexpectedEOF) })
	}
	must.Get(newMachine(t).pull(mirror.InBucket(bucket), w))(t)
	must.Equal(t, bucket.since(), "get@0 get@100")
}

// TestPush_ByManyAtOnce has machines with overlapping selections push while others pull: who pulls
// gets whole packages or none.
func TestPush_ByManyAtOnce(t *testing.T) {
	t.Parallel()
	bucket := blob.NewDirectory(t.TempDir())
	from := newMachine(t)
	var wanted []getproviders.PackageSpec
	for _, name := range strings.Split("abcdef", "") {
		wanted = append(wanted, from.add(name, small(name)))
	}
	var all sync.WaitGroup
	for range peertest.Rounds(5, 12) {
		all.Go(func() {
			must.Equal(t, must.ErrorOf(from.push(mirror.InBucket(bucket), wanted...)), nil)
			must.Equal(t, must.ErrorOf(newMachine(t).pull(mirror.InBucket(bucket), wanted...)), nil)
		})
	}
	all.Wait()
	must.Equal(t, len(objects(t, bucket)), len(wanted))
}

func TestPush_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	w := m.add("a", small("a"))
	ctx, cancel := context.WithCancel(t.Context())
	bucket := newCounted(t)
	_, err := mirror.Push(ctx, m.Installer, changing{mirror.InBucket(bucket), cancel}, []getproviders.PackageSpec{w})
	must.Fail(t, err, context.Canceled)
	must.NotContain(t, bucket.since(), "put")
}

func TestName_IsThatOfOnePackage(t *testing.T) {
	t.Parallel()
	n := remote.Name{Provider: provider("acme/a"), Version: version("1.0.0+x"), Platform: linux, H1: installtest.WrongH1}
	key, err := n.Key()
	if want := "tfdeps-1/registry.terraform.io/acme/a/1.0.0+x/linux_amd64/" + strings.Repeat("0", 64) + ".zip"; err != nil || key != want {
		t.Errorf("%s, %v", key, err)
	}
	must.Equal(t, must.Get(n.Tag())(t), "linux_amd64-"+strings.Repeat("0", 64))
	for wrong, change := range map[string]func(*remote.Name){
		"provider":      func(n *remote.Name) { n.Provider.Type = "../x" },
		"version":       func(n *remote.Name) { n.Version.Prerelease = "../x" },
		"platform":      func(n *remote.Name) { n.Platform.OS = "../x" },
		"no h1":         func(n *remote.Name) { n.H1 = "" },
		"h1 of nothing": func(n *remote.Name) { n.H1 = "h1:" },
		"h1 no base64":  func(n *remote.Name) { n.H1 = "h1:../../x" },
		"zh":            func(n *remote.Name) { n.H1 = "zh:00" },
		"short h1":      func(n *remote.Name) { n.H1 = "h1:AAAA" },
	} {
		n := n
		change(&n)
		must.Refuse(n.Key())(t, wrong)
		must.Refuse(n.Tag())(t, wrong)
	}
}
