package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/s3"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// crowd is the number of publishers, and of readers.
const crowd = 50

// ofService is a bucket of versitygw. The test is skipped without it.
func ofService(t *testing.T) blob.Bucket {
	t.Helper()
	server := storagetest.StartVersity(t, "bucket")
	b := must.Get(s3.New(t.Context(), s3.Options{Bucket: "bucket", Region: storagetest.VersityRegion, Endpoint: server.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(storagetest.VersityID, storagetest.VersitySecret, "")}))(t)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestMirrorBucket_FiftyPublishAndFiftyRead has each publisher add a package of its own to one provider of one prefix,
// at versitygw, with its conditions and as if it had none. Whatever a reader finds listed at any moment is there, with
// the bytes that are listed.
func TestMirrorBucket_FiftyPublishAndFiftyRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	all := ofService(t)
	for name, before := range map[string]func(context.Context, installtest.Call) error{"conditions": nil, "none": installtest.Unconditional} {
		t.Run(name, func(t *testing.T) {
			m, bucket := newMirroring(t), blob.Sub(all, name)
			var platforms []getproviders.Platform
			for i := range crowd / 5 {
				platforms = append(platforms, getproviders.Platform{OS: "linux", Arch: fmt.Sprint("cpu", i)})
			}
			var publishers []func() error
			for v := range 5 {
				for _, plat := range platforms {
					name := fmt.Sprintf("3.0.%d", v)
					m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: name, Platform: plat, Archive: zipOf(t, map[string]string{"terraform-provider-widget": name + plat.String()})})
					publishers = append(publishers, func() error {
						return must.ErrorOf(mirror.Update(t.Context(), m.Fetcher, mirror.Bucket(&installtest.Hooked{Bucket: bucket, Before: before}), want("widget@"+name), mirror.Options{Platforms: []getproviders.Platform{plat}}))
					})
				}
			}
			var publishing, reading sync.WaitGroup
			var published atomic.Bool
			for range crowd {
				reading.Go(func() {
					for reads := 0; (reads < 2 || !published.Load()) && !t.Failed(); reads++ {
						must.Equal(t, readAll(t.Context(), bucket, platforms), nil)
					}
				})
			}
			for _, publish := range publishers {
				publishing.Go(func() { must.Equal(t, publish(), nil) })
			}
			publishing.Wait()
			published.Store(true)
			reading.Wait()
			if before != nil { // an update that was lost all the same heals at the next run
				for _, publish := range publishers {
					succeed(t, publish())
				}
			}
			succeed(t, readAll(t.Context(), bucket, platforms))
			source := must.Get(mirror.Source(bucket))(t)
			listed := 0
			for v := range 5 {
				all := must.Get(source.Describe(widget).Platforms(t.Context(), widget, version(fmt.Sprintf("3.0.%d", v))))(t)
				listed += len(all)
			}
			must.Equal(t, strings.Count(strings.Join(keysOf(t, bucket), " "), ".zip"), crowd)
			must.Equal(t, listed, crowd)
		})
	}
}

// readAll reads all packages that a mirror lists, as a client that begins now.
func readAll(ctx context.Context, bucket blob.Bucket, platforms []getproviders.Platform) error {
	source, err := mirror.Source(bucket)
	if err != nil {
		return err
	}
	available, err := source.Versions(ctx, widget)
	if errors.Is(err, getproviders.ErrProviderNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, v := range available.Versions {
		for _, plat := range platforms {
			pkg, err := source.Package(ctx, widget, v, plat)
			if errors.Is(err, getproviders.ErrPlatformMissing) {
				continue
			}
			if err == nil {
				err = installtest.ReadArchive(ctx, pkg)
			}
			if err != nil {
				return fmt.Errorf("%s for %s is listed: %w", v, plat, err)
			}
		}
	}
	return nil
}
