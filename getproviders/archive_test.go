package getproviders

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestReaderArchive_OpensAtAnyOffset(t *testing.T) {
	archive := ReaderArchive{Name: "row 7", Reader: strings.NewReader("0123456789"), Size: 10}
	for offset, want := range map[int64]string{0: "0123456789", 4: "456789", 10: ""} {
		opened := must.Get(archive.Open(t.Context(), offset))(t, offset)
		must.Equal(t, string(must.Get(io.ReadAll(opened.Body))(t)), want)
		must.Equal(t, opened.Offset, offset)
		must.Equal(t, opened.Size, 10)
	}
	for _, wrong := range []struct {
		ReaderArchive
		at int64
	}{{archive, -1}, {archive, 11}, {ReaderArchive{Size: 1}, 0}} {
		must.Refuse(wrong.Open(t.Context(), wrong.at))(t, wrong.at)
	}
}

func TestTrustedBy_HoldsWhatTheAuthenticatorKnows(t *testing.T) {
	sum := [32]byte(bytes.Repeat([]byte{7}, 32))
	trust := TrustedBy(AnyHash{ZH(sum)})
	must.Equal(t, trust.ExpectedSHA256, sum)
	must.Len(t, trust.ListedHashes, 1)
	own := authenticatorFunc(func(d Digests) (AuthenticationResult, error) {
		if d.SHA256 != sum {
			return AuthenticationResult{}, ErrAuthentication
		}
		return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
	})
	must.Equal(t, must.Get(TrustedBy(own).Authenticator.Authenticate(Digests{SHA256: sum}))(t).TrustLevel, LevelVerifiedChecksum)
	if TrustedBy(nil).Authenticator != nil {
		t.Error("nothing authenticates")
	}
}

// authenticatorFunc is a function that implements Authenticator.
type authenticatorFunc func(Digests) (AuthenticationResult, error)

func (f authenticatorFunc) Authenticate(d Digests) (AuthenticationResult, error) { return f(d) }
