package embed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// maxKindBytes is what each kind of bucket may add to a stripped program that has HTTP and the engine already.
const maxKindBytes = 6_000_000

// bucketProgram reads and writes all of a bucket, asks a registry, and has what else is given: imports, and statements
// before that.
const bucketProgram = `package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
%s)

func directory(_ context.Context, u *url.URL) (blob.Bucket, error) { return blob.NewDirectory(u.Path), nil }

func main() {
	ctx, openers, client := context.Background(), buckets.Openers{"file": directory}, hosts.DefaultClient()
	var source getproviders.Source = &getproviders.RegistrySource{Client: client}
%s
	bucket, err := openers.Open(ctx, os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer bucket.Close()
	fmt.Println(bucket.Put(ctx, "key", blob.Bytes(nil), blob.PutOptions{}))
	fmt.Println(blob.ReadAll(ctx, bucket, "key", 1))
	fmt.Println(source.Versions(ctx, getproviders.Provider{}))
	fmt.Println(source.Package(ctx, getproviders.Provider{}, getproviders.Version{}, getproviders.Platform{}))
}
`

// bucketKinds are those that a program imports if it wants them.
var bucketKinds = map[string]struct{ imports, statements string }{
	"internal/s3":  {`"github.com/tfdeps/tfdeps/internal/s3"`, `openers["s3"] = s3.Open`},
	"internal/gcs": {`"github.com/tfdeps/tfdeps/internal/gcs"`, `openers["gs"] = gcs.Opener{Client: client}.Open`},
	"internal/oci": {`"github.com/tfdeps/tfdeps/internal/oci"`, `registry := &oci.Client{HTTP: client}
	source = &oci.Source{Client: registry}
	fmt.Println(registry.Push(ctx, oci.Repository{}, oci.Release{}))
	fmt.Println(registry.Module(ctx, oci.Repository{}, "", ""))
	fmt.Println(registry.PushPackage(ctx, oci.Repository{}, "", nil))
	fmt.Println(registry.OpenPackage(ctx, oci.Repository{}, "", 0))`},
}

// TestEmbed_BucketsAreSmall links a small program with each kind of bucket, and without any.
func TestEmbed_BucketsAreSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links programs")
	}
	base := bucketProgramSize(t, "", "")
	for kind, uses := range bucketKinds {
		added := bucketProgramSize(t, "\t"+uses.imports+"\n", "\t"+uses.statements+"\n") - base
		t.Logf("%s adds %d bytes to %d", kind, added, base)
		if added > maxKindBytes {
			t.Errorf("%s adds %d bytes, want at most %d", kind, added, maxKindBytes)
		}
		if added < 50_000 {
			t.Errorf("%s adds %d bytes: it isn't in the program", kind, added)
		}
	}
}

// bucketProgramSize builds the program as its publisher would, and returns how large it is.
func bucketProgramSize(t *testing.T, imports, statements string) int64 {
	t.Helper()
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
	must.Write(t, source, fmt.Sprintf(bucketProgram, imports, statements))
	// The program is in the place of another one for the build: the kinds of bucket are internal to this module.
	must.Write(t, overlay, must.Get(json.Marshal(map[string]any{"Replace": map[string]string{harness.Path(t, embedPackage, "main.go"): source}}))(t))
	return must.Get(os.Stat(harness.Build(t, embedPackage, "-overlay="+overlay)))(t).Size()
}

// TestEmbed_BucketsAreImportedIfWanted: who imports the interface, what fills a mirror, or the server of one, gets no
// kind of bucket but the directory.
func TestEmbed_BucketsAreImportedIfWanted(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"providercache/blob", "providercache/mirror", "providercache/mirrorserver"} {
		for _, module := range heavyModules(goListModules(t, pkg)) {
			t.Errorf("%s needs %s", pkg, module)
		}
	}
	for pkg := range bucketKinds {
		if len(heavyModules(goListModules(t, pkg))) == 0 {
			t.Errorf("%s needs nothing more, so that this test can't fail", pkg)
		}
	}
}
