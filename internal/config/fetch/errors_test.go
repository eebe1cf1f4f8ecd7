package fetch

import (
	"context"
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/git"
)

// What was fetched is there, even if the context has ended since.
func TestNamed_IsNoErrorWithoutOne(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := named(ctx, "https://example.com/a.zip", nil); err != nil {
		t.Error(err)
	}
}

func TestErrors_NameThePackageOnce(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	inner := &git.Error{URL: "https://example.com/a.git", Ref: "v1", Err: gone}
	for _, tt := range []struct {
		pkg         string
		err         error
		full, brief string
	}{
		{"git::https://example.com/a.git?ref=v1", inner, "checking out git::https://example.com/a.git?ref=v1: gone", "checking out: gone"},
		{"git::https://mirrored.example.com/a.git?ref=v1", inner,
			`checking out git::https://mirrored.example.com/a.git?ref=v1: git repository https://example.com/a.git, ref "v1": gone`,
			`checking out: git repository https://example.com/a.git, ref "v1": gone`},
		{"https://example.com/a.zip", gone, "checking out https://example.com/a.zip: gone", "checking out: gone"},
	} {
		e := &Error{Package: tt.pkg, Step: stepCheckout, Err: tt.err}
		if e.Error() != tt.full || e.Brief() != tt.brief || !errors.Is(e, gone) {
			t.Errorf("got %q and %q, want %q and %q", e.Error(), e.Brief(), tt.full, tt.brief)
		}
	}
}
