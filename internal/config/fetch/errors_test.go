package fetch

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestErrors_NameThePackageOnce(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	at := "https://example.com/a.git"
	inner := &getproviders.Fault{Subject: getproviders.Subject{Source: at}, Err: fmt.Errorf("git repository %s: %w", at, gone)}
	for _, tt := range []struct {
		pkg         string
		err         error
		full, brief string
	}{
		{"git::https://example.com/a.git?ref=v1", inner, "checking out git::https://example.com/a.git?ref=v1: gone", "checking out: gone"},
		{"git::https://mirrored.example.com/a.git?ref=v1", inner,
			`checking out git::https://mirrored.example.com/a.git?ref=v1: git repository https://example.com/a.git: gone`,
			`checking out: git repository https://example.com/a.git: gone`},
		{"https://example.com/a.zip", gone, "checking out https://example.com/a.zip: gone", "checking out: gone"},
	} {
		err := named(t.Context(), tt.pkg, failed(stepCheckout, tt.err))
		step, ok := errors.AsType[*modules.StepError](err)
		if err.Error() != tt.full || !ok || step.Brief() != tt.brief || !errors.Is(err, gone) {
			t.Errorf("got %q, want %q and %q", err, tt.full, tt.brief)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	must.Succeed(t, named(ended, at, nil), "what was fetched is there, even if the context has ended since")
}
