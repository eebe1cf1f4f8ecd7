package cliconfig

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// How often OpenTofu tries a download again, and the variable that says otherwise.
const (
	retriesVariable = "TF_PROVIDER_DOWNLOAD_RETRY"
	defaultRetries  = 2
)

// retried is a source whose archives are requested again as often as OpenTofu does it: as the
// method says, else as the variable does. A variable that is no positive number says nothing.
func (o SourceOptions) retried(source getproviders.Source, given *int) getproviders.Source {
	if !dialect.Of(o.Product).Understands("download_retry_count") {
		return source
	}
	retries := defaultRetries
	if n, err := strconv.Atoi(o.User.Getenv(retriesVariable)); err == nil && n > 0 {
		retries = n
	}
	if given != nil {
		retries = *given
	}
	return retriedSource{source, retries}
}

// retriedSource says with each archive how often it is requested.
type retriedSource struct {
	getproviders.Source
	retries int
}

// Package implements getproviders.Source.
func (s retriedSource) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	found, err := s.Source.Package(ctx, p, v, plat)
	if archive, ok := found.Location.(getproviders.HTTPArchive); ok && err == nil {
		archive.Retries = &s.retries
		found.Location = archive
	}
	return found, err
}

// unsupportedSource stands for an oci_mirror block. The block does no harm as long as no
// provider is looked for in it.
type unsupportedSource struct{ template, program string }

func (s unsupportedSource) fail(p getproviders.Provider) error {
	return fmt.Errorf("%s would be installed from an OCI registry (%s), which tfdeps can't do: let the oci_mirror block exclude it, or run %s init itself", p, s.template, s.program)
}

// Describe implements getproviders.Source.
func (s unsupportedSource) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "OCI registry " + s.template}
}

// Versions implements getproviders.Source.
func (s unsupportedSource) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	return getproviders.Available{}, s.fail(p)
}

// Package implements getproviders.Source.
func (s unsupportedSource) Package(_ context.Context, p getproviders.Provider, _ getproviders.Version, _ getproviders.Platform) (getproviders.Package, error) {
	return getproviders.Package{}, s.fail(p)
}
