package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/s3"
	"github.com/tfdeps/tfdeps/internal/storagetest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// crowd is how many publish, and how many read.
const crowd = 50

// TestMirrorBucket_FiftyPublishAndFiftyRead has each publisher add a package of its own to one provider of one prefix,
// at versitygw, with its conditions and as if it had none. Whatever a reader finds listed at any moment is there, with
// the bytes that are listed.
func TestMirrorBucket_FiftyPublishAndFiftyRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	server := storagetest.StartVersity(t, "bucket")
	open := func(t *testing.T) blob.Bucket {
		b := must.Get(s3.New(t.Context(), s3.Options{Bucket: "bucket", Region: storagetest.VersityRegion, Endpoint: server.Endpoint,
			Credentials: credentials.NewStaticCredentialsProvider(storagetest.VersityID, storagetest.VersitySecret, "")}))(t)
		t.Cleanup(func() { _ = b.Close() })
		return b
	}
	for name, unconditional := range map[string]bool{"conditions": false, "none": true} {
		t.Run(name, func(t *testing.T) {
			m, bucket := newMirroring(t), blob.Sub(open(t), name)
			var platforms []getproviders.Platform
			for i := range crowd / 5 {
				platforms = append(platforms, getproviders.Platform{OS: "linux", Arch: fmt.Sprint("cpu", i)})
			}
			var jobs []func(ctx context.Context) error
			for v := range 5 {
				for _, plat := range platforms {
					name := fmt.Sprintf("3.0.%d", v)
					m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: name, Platform: plat, Archive: zipOf(t, map[string]string{"terraform-provider-widget": name + plat.String()})})
					jobs = append(jobs, func(ctx context.Context) error {
						_, err := mirror.Update(ctx, m.Fetcher, mirror.Bucket(&watched{Bucket: bucket, unconditional: unconditional}), want("widget@"+name), mirror.Options{Platforms: []getproviders.Platform{plat}})
						return err
					})
				}
			}
			published, end := context.WithCancel(t.Context())
			for range crowd {
				jobs = append(jobs, func(ctx context.Context) error {
					for reads := 0; reads < 2 || published.Err() == nil; reads++ {
						if err := readAll(ctx, bucket, platforms); err != nil {
							return err
						}
					}
					return nil
				})
			}
			var ended atomic.Int64
			publishers := slices.Clone(jobs[:crowd])
			for i, publish := range publishers {
				jobs[i] = func(ctx context.Context) error {
					defer func() {
						if ended.Add(1) == crowd {
							end()
						}
					}()
					return publish(ctx)
				}
			}
			_, errs := par.Map(t.Context(), len(jobs), jobs, func(ctx context.Context, job func(context.Context) error) (struct{}, error) {
				return struct{}{}, job(ctx)
			})
			end()
			succeed(t, errors.Join(errs...))
			if unconditional { // an update that was lost all the same heals at the next run
				for _, publish := range publishers {
					succeed(t, publish(t.Context()))
				}
			}
			succeed(t, readAll(t.Context(), bucket, platforms))
			count := 0
			for info, err := range bucket.List(t.Context(), "") {
				succeed(t, err)
				if strings.HasSuffix(info.Key, ".zip") {
					count++
				}
			}
			source := must.Get(mirror.Source(bucket))(t)
			listed := 0
			for v := range 5 {
				widget := provider(registryHost + "/acme/widget")
				all := must.Get(source.Describe(widget).Platforms(t.Context(), widget, version(fmt.Sprintf("3.0.%d", v))))(t)
				listed += len(all)
			}
			must.Equal(t, count, crowd)
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
	p := provider(registryHost + "/acme/widget")
	available, err := source.Versions(ctx, p)
	if errors.Is(err, getproviders.ErrProviderNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, v := range available.Versions {
		for _, plat := range platforms {
			pkg, err := source.Package(ctx, p, v, plat)
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
