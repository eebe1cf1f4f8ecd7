package getproviders

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// FuzzMirrorKeys: whatever a mirror has as keys, nothing panics, and keys that were read are the
// same after they are written and read again.
func FuzzMirrorKeys(f *testing.F) {
	f.Add([]byte(`{"gpg_public_keys": [{"ascii_armor": "x", "trust_signature": ""}]}`))
	f.Add([]byte(`{"gpg_public_keys": [null, {"key_id": "y", "ascii_armor": "<\u2028\ud800>"}]}`))
	f.Add([]byte(`{"gpg_public_keys": null}`))
	f.Add([]byte(`[`))
	original, _ := nullProvider(f)
	f.Add(SignedDocuments{Keys: original.PublicKeys}.EncodeKeys())
	f.Fuzz(func(t *testing.T, content []byte) {
		d := SignedDocuments{Keys: decodeMirroredKeys(content)}
		again := d.EncodeKeys()
		if keys := decodeMirroredKeys(again); !json.Valid(again) || !slices.Equal(keys, d.Keys) {
			t.Errorf("%q becomes %q", content, again)
		}
		must.Len(t, (Signers{}).candidates(Provider{}, d.Keys, original), 1)
	})
}
