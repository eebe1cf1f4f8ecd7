package doctorcmd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/explain"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// silentSource answers when its context ends.
type silentSource struct{ getproviders.Source }

func (silentSource) Versions(ctx context.Context, _ getproviders.Provider) (getproviders.Available, error) {
	<-ctx.Done()
	return getproviders.Available{}, ctx.Err()
}

func TestDoctor_WaitsForAMirrorOnlySoLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		x := &examination{Session: sources.New(&cli.Meta{Now: time.Now, Context: t.Context()}, getproviders.Terraform(""), false)}
		_, err := x.ask(t.Context(), target{kind: "mirror", name: "s3://bucket", source: silentSource{}}, cliconfig.SourceOptions{})
		must.Equal(t, explain.CodeOfError(err), "timeout", err)
		must.Equal(t, time.Since(began), askedFor, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := x.ask(ctx, target{kind: "mirror", name: "s3://bucket", source: silentSource{}}, cliconfig.SourceOptions{}); err != context.Canceled {
			t.Errorf("an interrupt is %v", err)
		}
	})
}
