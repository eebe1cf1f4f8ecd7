package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	const h1, h1Archive, otherH1 = getproviders.Hash("h1:files="), getproviders.Hash("h1:archive="), getproviders.Hash("h1:other=")
	sum := [32]byte{1}
	zh, otherZH := getproviders.ZH(sum), getproviders.ZH([32]byte{2})
	received := getproviders.Digests{SHA256: sum}
	unpacked := getproviders.Digests{SHA256: sum, H1: h1, H1Archive: h1Archive}
	directory := getproviders.Digests{H1: h1, H1Archive: h1}
	type hashes = []getproviders.Hash

	for name, c := range map[string]struct {
		authentic getproviders.AnyHash // nil: no authenticator
		recorded  hashes
		digests   getproviders.Digests
		step      string // "": passes
		needsH1   bool
	}{
		"nothing is known":                    {digests: received},
		"locked by zh":                        {digests: received, recorded: hashes{otherH1, zh}},
		"locked by another zh":                {digests: received, recorded: hashes{otherZH}, step: during.Verify},
		"locked by another zh, perhaps by h1": {digests: received, recorded: hashes{otherZH, h1}, needsH1: true},
		"locked by h1":                        {digests: unpacked, recorded: hashes{otherZH, h1}},
		"locked by h1 with directories":       {digests: unpacked, recorded: hashes{otherZH, h1Archive}},
		"locked by another h1":                {digests: unpacked, recorded: hashes{otherZH, otherH1}, step: during.Verify},
		"authentic by zh":                     {digests: received, authentic: getproviders.AnyHash{otherH1, zh}},
		"not authentic by zh":                 {digests: received, authentic: getproviders.AnyHash{otherZH}, step: during.Authenticate},
		"perhaps authentic by h1":             {digests: received, authentic: getproviders.AnyHash{otherZH, h1}, needsH1: true},
		"authentic by h1":                     {digests: unpacked, authentic: getproviders.AnyHash{otherZH, h1}},
		"not authentic by any":                {digests: unpacked, authentic: getproviders.AnyHash{otherZH, otherH1}, step: during.Authenticate},
		"authentic, and locked otherwise":     {digests: received, authentic: getproviders.AnyHash{zh}, recorded: hashes{otherZH}, step: during.Verify},
		"locked, and not authentic":           {digests: received, authentic: getproviders.AnyHash{otherZH}, recorded: hashes{zh}, step: during.Authenticate},
		"directory, nothing known":            {digests: directory},
		"directory, locked by h1":             {digests: directory, recorded: hashes{h1, otherZH}},
		"directory, locked by another h1":     {digests: directory, recorded: hashes{otherH1, otherZH}, step: during.Verify},
		"directory, locked by zh only":        {digests: directory, recorded: hashes{otherZH}},
		"directory, zh of nothing":            {digests: directory, recorded: hashes{otherH1, getproviders.ZH([32]byte{})}, step: during.Verify},
	} {
		t.Run(name, func(t *testing.T) {
			job := Request{Selection: getproviders.Selection{Provider: cachetest.Widget}, Recorded: c.recorded}
			var authenticator getproviders.Authenticator
			if c.authentic != nil {
				authenticator = c.authentic
			}
			result, err := job.Authenticate(authenticator, c.digests)
			if got := errors.Is(err, errH1Required); got != c.needsH1 {
				t.Fatalf("got %v, want that the h1 is needed: %v", err, c.needsH1)
			}
			if c.needsH1 {
				return
			}
			failure, failed := getproviders.Failure(err)
			if failed != (c.step != "") || failed && failure.Step != c.step || !failed && err != nil {
				t.Fatalf("got %v, want failure in step %q", err, c.step)
			}
			must.Equal(t, result.TrustLevel == getproviders.LevelVerifiedChecksum, c.authentic != nil && !failed)
		})
	}
}

func TestAuthenticate_NamesHashes(t *testing.T) {
	t.Parallel()
	job := Request{Selection: getproviders.Selection{Provider: cachetest.Widget}, Recorded: []getproviders.Hash{"h1:recorded="}}
	_, err := job.Authenticate(nil, getproviders.Digests{SHA256: [32]byte{1}, H1: "h1:got=", H1Archive: "h1:got="})
	mismatch := getproviders.FaultOf(err, getproviders.ErrLockMismatch)
	if mismatch == nil || !strings.Contains(mismatch.Hint, "has h1:got= and "+string(getproviders.ZH([32]byte{1}))+": find out") {
		t.Fatalf("got %+v", err)
	}
	for _, recorded := range [][]getproviders.Hash{nil, job.Recorded} {
		for _, word := range []string{"terraform", "tofu", "init", "providers lock"} {
			must.NotContain(t, strings.ToLower(mismatchHint(nil, recorded)), word)
		}
	}
}
