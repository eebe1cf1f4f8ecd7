package receipt

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// BenchmarkReceipts measures the cost of receipts in a run that finds nothing changed: the
// receipts of a hundred packages are read, and ten of them are looked up.
func BenchmarkReceipts(b *testing.B) {
	state, root := filepath.Join(b.TempDir(), "state"), b.TempDir()
	r := Open(state, root)
	for i := range 100 {
		rc := Receipt{Provenance: Provenance{H1: getproviders.Hash("h1:" + strings.Repeat("x", 44))}, Taken: time.Unix(1_700_000_000, 0)}
		for j := range 15 {
			rc.Signed = append(rc.Signed, getproviders.ZH([32]byte{byte(i), byte(j)}))
		}
		for _, name := range []string{".", "LICENSE.txt", "terraform-provider-widget_v1.0.0_x5"} {
			rc.Record.Entries = append(rc.Record.Entries, StatEntry{Name: name, Mode: 0o755, Inode: 1 << 20, Size: 1 << 28, Modified: 1 << 60, Changed: 1 << 60})
		}
		r.Put(fmt.Sprintf("registry.example.com/acme/widget%d/1.0.0/linux_amd64", i), rc)
	}
	must.Succeed(b, r.File.Save(b.Context()))
	for b.Loop() {
		r := Open(state, root)
		for i := range 10 {
			if _, ok := r.Find(fmt.Sprintf("registry.example.com/acme/widget%d/1.0.0/linux_amd64", i)); !ok {
				b.Fatal("it isn't there")
			}
		}
	}
}
